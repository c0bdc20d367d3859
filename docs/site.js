// The site's additions to Doxygen: the buttons of doxygen-awesome-css, and a search of the text of all pages. The index
// is search-text.js, which docs/make_site.py writes: one entry [url, page, section, text] for each section of a page and
// for each entry of the reference. It is loaded when the search field is used for the first time.
DoxygenAwesomeDarkModeToggle.init();
DoxygenAwesomeFragmentCopyButton.init();
DoxygenAwesomeInteractiveToc.init();

(function () {
  const most = 40;
  let list, loading = false;

  function score(entry, words) {
    const [url, page, section, text] = entry;
    const title = section.toLowerCase(), all = (page + " " + section + " " + text).toLowerCase();
    let points = url.startsWith("group__") || url.startsWith("class") || url.startsWith("struct") ? 0 : 15;  // guides first
    if (page.startsWith("sequentially::") || page === "rules") points -= 30;  // few programs call these
    const guide = url.split(".html")[0].replace(/-/g, "_");
    for (const word of words) {
      const at = all.indexOf(word);
      if (at < 0) return 0;
      const own = title.indexOf(word);
      if (guide === word && url.indexOf("#") < 0) points += 80;
      if (title === word || title === word + "()" || title.startsWith(word + "<")) points += 60;
      else if (own === 0) points += 25;
      else if (own > 0) points += 12;
      else if (page.toLowerCase().indexOf(word) >= 0) points += 6;
      points += Math.min(all.split(word).length - 1, 5);
    }
    return points;
  }

  function excerpt(text, words) {
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
    return (at > 0 ? "… " : "") + text.substring(at, at + 180) + (text.length > at + 180 ? " …" : "");
  }

  function close() { list.style.display = "none"; }

  function show() {
    const words = document.getElementById("MSearchField").value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
    list.replaceChildren();
    if (words.length === 0 || typeof searchText === "undefined") return close();
    const found = searchText.map(entry => [score(entry, words), entry]).filter(one => one[0] > 0);
    found.sort((a, b) => b[0] - a[0]);
    for (const [, [url, page, section, text]] of found.slice(0, most)) {
      const link = document.createElement("a"), title = document.createElement("b"), below = document.createElement("span");
      link.href = url;
      title.textContent = section === page || section === "" ? page : section + " – " + page;
      below.textContent = excerpt(text, words);
      link.append(title, below);
      link.addEventListener("click", close);
      list.append(link);
    }
    if (found.length === 0) list.append("Nothing has all of these words.");
    list.style.display = "block";
  }

  function load() {
    if (loading) return;
    loading = true;
    const script = document.createElement("script");
    script.src = "search-text.js";
    script.onload = show;
    document.head.append(script);
  }

  function begin() {
    const field = document.getElementById("MSearchField");
    if (field === null) return setTimeout(begin, 100);  // Doxygen's menu makes the field, after the page is loaded
    list = document.createElement("div");
    list.id = "text-results";
    document.body.append(list);
    field.value = "";  // Doxygen's field contains the word Search
    field.placeholder = "Search the site";
    for (const handler of ["onfocus", "onblur", "onkeyup"]) field[handler] = null;
    field.addEventListener("focus", () => { load(); show(); });
    field.addEventListener("input", show);
    field.addEventListener("keydown", event => {
      const first = list.querySelector("a");
      if (event.key === "Escape") close();
      if (event.key === "Enter" && first) { event.preventDefault(); first.click(); }
      if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
    });
    list.addEventListener("keydown", event => {
      const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (event.key === "Escape") close();
      if (next) { event.preventDefault(); (document.activeElement[next] || field).focus(); }
    });
    document.addEventListener("click", event => { if (event.target !== field && !list.contains(event.target)) close(); });
  }
  document.addEventListener("DOMContentLoaded", begin);
})();
