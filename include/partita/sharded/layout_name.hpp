// The name of a sharding, which can be a template argument. In contrast to a sharding, a name is short in a symbol and
// readable in compiler messages.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/cotangent.hpp>

namespace partita {

/// The text of a layout, as a value that can be a template argument, such as "data=2,model=4 (data, ) partial sum over
/// model". The mesh, followed by '!' if it forbids implicit reshards, comes before the layout.
template <std::size_t Letters>
struct layout_name {
  char characters[Letters + 1]{};  ///< the text and a final 0

  friend constexpr bool operator==(const layout_name&, const layout_name&) = default;
};

namespace detail {

constexpr text layout_text(const sharding& s) {  ///< the text that a layout_name holds
  text all;
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    all << (a == 0 ? "" : ",") << s.on.axes[a].name() << '=' << s.on.size(a);
  if (s.on.requires_explicit_reshards) all << '!';
  sharding closed = s;
  closed.open = 0;
  text layout;
  layout << closed;
  all << ' ' << (s.rank() == 0 ? "scalar" : "");
  for (std::size_t k = s.rank() == 0 ? 2 : 0; k < layout.size(); ++k) all << layout[k];
  return all;
}

/// Parses a text that layout_text has written.
template <std::size_t Letters>
class layout_reader {
 public:
  constexpr explicit layout_reader(const layout_name<Letters>& name) : next_(name.characters) {}

  constexpr sharding read() {  ///< the sharding that the text describes; may be called once
    mesh m;
    while (*next_ != ' ') {
      char axis_name[axis::most_letters + 1]{};
      for (std::size_t k = 0; *next_ != '='; ++k) axis_name[k] = *next_++;
      ++next_;
      std::size_t size = 0;
      while (*next_ >= '0' && *next_ <= '9') size = 10 * size + static_cast<std::size_t>(*next_++ - '0');
      m.push_back(axis(axis_name, size));
      if (*next_ == ',') ++next_;
      if (*next_ == '!') ++next_, m.requires_explicit_reshards = true;
    }
    ++next_;
    sharding s(m, *next_ == '(' ? 1 : 0);
    next_ += s.rank() == 0 ? 6 : 1;  // skips "scalar", or a parenthesis
    while (s.rank() != 0 && *next_ != ')') {
      std::size_t length = 0;
      while (next_[length] != '+' && next_[length] != ',' && next_[length] != ')') ++length;
      if (length > 0) s.cuts[s.dimensions - std::size_t{1}].push_back(m.number(next_, length));
      next_ += length;
      if (*next_ == '+') ++next_;
      if (*next_ == ',') next_ += 2, ++s.dimensions;
    }
    if (s.rank() != 0) ++next_;
    while (*next_ == ' ') {
      const bool partial = *++next_ == 'p';
      skip_word();
      pending_reduction kind = pending_reduction::none;
      if (partial) kind = read_kind();
      skip_word();  // skips "over"
      std::size_t length = 0;
      while (next_[length] != ' ' && next_[length] != '\0') ++length;
      const std::size_t a = m.number(next_, length);
      next_ += length;
      if (partial) s.pending[a] = kind;
      else s.reduced_over = static_cast<std::uint16_t>(s.reduced_over | 1U << a);
    }
    return s;
  }

 private:
  constexpr void skip_word() {  ///< skips all up to the next space, and the space
    while (*next_ != ' ') ++next_;
    ++next_;
  }
  constexpr pending_reduction read_kind() {  ///< the pending reduction that the next word names; skips it
    pending_reduction found = pending_reduction::none;
    for (std::size_t k = 1; k <= pending_reductions::size; ++k) {
      const char* name = name_of(static_cast<pending_reduction>(k));
      std::size_t n = 0;
      while (name[n] != '\0' && name[n] == next_[n]) ++n;
      if (name[n] == '\0' && next_[n] == ' ') found = static_cast<pending_reduction>(k);
    }
    skip_word();
    return found;
  }

  const char* next_;  ///< the next character to read
};

}  // namespace detail

/// The sharding that a name describes.
template <auto Name>
inline constexpr sharding layout_of_name = detail::layout_reader(Name).read();

namespace detail {

template <std::size_t Letters>
constexpr layout_name<Letters> make_layout_name(const sharding& s) {  ///< Letters is the length of layout_text(s)
  layout_name<Letters> name;
  const text written = layout_text(s);
  for (std::size_t k = 0; k < Letters; ++k) name.characters[k] = written[k];
  return name;
}

}  // namespace detail

/// The name of a sharding, stored with exactly as many letters as it has. The type is written out because g++ 12 cannot
/// deduce it.
template <sharding S>
inline constexpr layout_name<detail::layout_text(S).size()> name_of_layout =
    detail::make_layout_name<detail::layout_text(S).size()>(S);

namespace detail {

/// The layout of the cotangent of a value whose layout has the name Name, and the name of this layout. Template
/// arguments are names of layouts, not shardings, because g++ 12 fails on shardings.
template <auto Name>
inline constexpr sharding cotangent_layout = cotangent(layout_of_name<Name>);
template <auto Name>
inline constexpr layout_name<layout_text(cotangent_layout<Name>).size()> cotangent_name =
    make_layout_name<layout_text(cotangent_layout<Name>).size()>(cotangent_layout<Name>);  ///< its name
template <auto Name>
inline constexpr sharding layout_without_partials = layout_of_name<Name>.without_partials();  ///< no pending reductions
template <auto Name>
inline constexpr layout_name<layout_text(layout_without_partials<Name>).size()> layout_name_without_partials =
    make_layout_name<layout_text(layout_without_partials<Name>).size()>(layout_without_partials<Name>);  ///< its name

}  // namespace detail
}  // namespace partita
