// From what the tensors say to one answer: which mesh axes cut each factor of an operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/bound.hpp>
#include <partita/rule/sharding/log.hpp>
#include <partita/rule/sharding/moved_bytes.hpp>
#include <partita/rule/sharding/policy.hpp>

namespace partita::detail {

using decision_log = bounded_list<decision, 160>;

/// Axes as they are written in a layout: data+model.
struct axes_name {
  const mesh& on;
  axis_list axes;

  template <std::size_t Capacity>
  friend constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const axes_name& name) {
    for (std::size_t k = 0; k < name.axes.size(); ++k) out << (k > 0 ? "+" : "") << name.on.axes[name.axes[k]].name();
    return out;
  }
};

template <class = void>
[[noreturn]] constexpr void refuse_contest(const mesh& m, const rule& r, std::size_t a, char one, char other) {
  throw partition_error(text("partita::propagate: requires a mesh axis to cut one factor, but \"") << m.axes[a].name()
                        << "\" cuts '" << one << "' and '" << other << "' of " << r.name() << ' ' << r
                        << "; leave one of them whole, or choose a policy that does");
}
template <class = void>
[[noreturn]] constexpr void refuse_disagreement(const mesh& m, const rule& r, char letter, axis_list before, std::size_t first,
                                                axis_list now, std::size_t second) {
  throw partition_error(text("partita::propagate: requires tensors that cut a factor by the same axes, but '") << letter
                        << "' is cut by \"" << axes_name{m, before} << "\" in tensor " << first << " and by \"" << axes_name{m, now}
                        << "\" in tensor " << second << " of " << r.name() << ' ' << r
                        << "; cut them alike, or choose a policy that does");
}

/// Decides for every factor the axes that cut it. What is decided by whom is in `log`.
struct settlement {
  const mesh& m;
  const rule& r;
  spec_list operands, results;
  direction towards;
  const policy& by;
  decision_log& log;
  std::array<axis_list, most_factors> cut{};
  std::array<std::uint8_t, most_factors> origin{};  ///< the tensor that said it first
  std::uint32_t in_operands = 0, in_all_results = ~std::uint32_t{0}, disagreed = 0;
  std::uint32_t taken = 0;                          ///< axes that cut some factor

  // --- who is asked ---

  // (No pointers that may be null: g++ 12 does not compare those to temporaries in constant expressions.)
  constexpr const spec& spec_of(std::size_t t) const { return t < r.operand_count ? operands[t] : results[t - r.operand_count]; }
  constexpr bool is_given(std::size_t t) const {
    return (t < r.operand_count ? t < operands.size() : t - r.operand_count < results.size()) && spec_of(t).known;
  }
  /// Whether what is said of tensor t is listened to.
  constexpr bool speaks(std::size_t t) const {
    if (!is_given(t)) return false;
    if (t >= r.operand_count) return towards != direction::forward;
    return towards != direction::backward && (r.unread >> t & 1U) == 0 && !(by.leaders_decide && (r.followers >> t & 1U) != 0);
  }

  // --- what a tensor says of the factors ---

  constexpr void note(decision::what done, std::size_t t, std::size_t d, std::size_t f, std::size_t a = decision::no_axis,
                      std::size_t who = decision::nobody, reduce kind = reduce::none) const {
    const auto byte = [](std::size_t n) { return static_cast<std::uint8_t>(n); };
    log.push_back({done, byte(t), byte(d), byte(f), byte(a), byte(who), kind});
  }
  /// Axes from the k-th on are of no use.
  constexpr void note_rest(decision::what done, std::size_t t, std::size_t d, std::size_t f, axis_list axes, std::size_t k) const {
    for (; k < axes.size(); ++k) note(done, t, d, f, axes[k]);
  }

  /// Calls use(f, axes, d) for each factor that tensor t cuts; with `speak`, what cannot be used is noted.
  template <class Use>
  constexpr void read(std::size_t t, const sharding& layout, bool speak, Use use) const {
    std::uint8_t running = 0;      // a group whose leading dimension may take the axes of those that follow
    std::size_t leading = 0;
    axis_list gathered;
    const auto close = [&] {
      if (running != 0 && !gathered.empty()) use(leading, gathered, std::size_t{0});
      running = 0, gathered = axis_list();
    };
    std::uint32_t begun = 0;  // groups whose leading dimension has been seen
    for (std::size_t d = 0; d < r.rank(t); ++d) {
      const axis_list axes = layout.cuts[d];
      const rule::dimension& here = r.at(t, d);
      const std::size_t f = here.count == 0 ? 0 : r.term(here, 0);
      const std::uint8_t group = here.count == 0 ? 0 : r.factors[f].group;
      if (group == 0 || by.merged == policy::compound::exact) {
        close();
        if (axes.empty()) continue;
        if (here.count == 0) {
          if (speak) note_rest(decision::what::one_element, t, d, decision::nobody, axes, 0);
        } else if (group == 0) {
          use(f, axes, d);
        } else {
          split(t, d, here, axes, speak, use);
        }
        continue;
      }
      if (r.factors[f].size == 1) {  // a dimension of one element leads nothing
        if (speak) note_rest(decision::what::one_element, t, d, f, axes, 0);
        continue;
      }
      const bool leads = (begun >> group % 32U & 1U) == 0;
      if (leads || running != group) close();
      begun |= std::uint32_t{1} << group % 32U;
      axis_list more = gathered;
      more.append(axes);
      if (leads && !axes.empty() && fits(f, axes)) {
        running = group, leading = f, gathered = axes;
      } else if (!leads && running == group && by.merged == policy::compound::gathered && !axes.empty() && fits(leading, more)) {
        gathered = more;
      } else {
        if (speak) note_rest(decision::what::does_not_fit, t, d, f, axes, 0);
        close();
      }
    }
    close();
  }
  constexpr bool fits(std::size_t f, axis_list axes) const {
    return r.factors[f].size != dynamic && r.factors[f].size % m.size(axes) == 0;
  }
  /// The axes of a merged dimension go to its factors, major to minor, as long as they divide what is left.
  template <class Use>
  constexpr void split(std::size_t t, std::size_t d, const rule::dimension& here, axis_list axes, bool speak, Use use) const {
    std::size_t k = 0;
    for (std::size_t i = 0; i < here.count && k < axes.size(); ++i) {
      const std::size_t f = r.term(here, i);
      std::size_t left = r.factors[f].size;
      axis_list own;
      for (; k < axes.size() && left != dynamic && left % m.size(axes[k]) == 0; ++k) {
        left /= m.size(axes[k]);
        own.push_back(axes[k]);
      }
      if (!own.empty()) use(f, own, d);
      if (left != 1) break;
    }
    if (speak) note_rest(decision::what::does_not_fit, t, d, r.term(here, 0), axes, k);
  }

  // --- one list of axes for each factor ---

  /// Whether a factor may be cut at all; if not, why.
  constexpr bool may_cut(std::size_t f, decision::what& why) const {
    const factor& one = r.factors[f];
    if (one.kind == factor_kind::replicate) return why = decision::what::must_be_whole, false;
    if (one.size == 1) return why = decision::what::one_element, false;
    if (!by.new_dimensions && (in_operands >> f & 1U) == 0) return why = decision::what::not_for_new, false;
    return true;
  }
  constexpr void hear(std::size_t t, std::size_t d, std::size_t f, axis_list axes) {
    decision::what why{};
    if (!may_cut(f, why)) return note_rest(why, t, d, f, axes, 0);
    axis_list& now = cut[f];
    if (now.empty()) {
      now = axes;
      origin[f] = static_cast<std::uint8_t>(t);
      return note(decision::what::took, t, d, f);
    }
    if (now.starts_with(axes)) return;
    if (axes.starts_with(now)) {
      now = axes;
      return note(decision::what::extended, t, d, f);
    }
    disagree(t, d, f, axes);
  }
  constexpr void disagree(std::size_t t, std::size_t d, std::size_t f, axis_list axes) {
    using enum policy::conflict;
    bool follow = false;
    switch (r.alike ? by.alike : by.disagreement) {
      case error: refuse_disagreement(m, r, r.factors[f].letter, cut[f], origin[f], axes, t);
      case first_wins: break;
      case larger_dim_wins:
      case most_shards: follow = m.size(axes) > m.size(cut[f]); break;
      case align:
      case cost: follow = bytes_for(f, axes) < bytes_for(f, cut[f]); break;
      case join: disagreed |= std::uint32_t{1} << f; return;
    }
    note(decision::what::overruled, follow ? origin[f] : t, d, f, decision::no_axis, follow ? t : origin[f]);
    if (follow) cut[f] = axes, origin[f] = static_cast<std::uint8_t>(t);
  }
  /// All axes of a factor that tensors cut differently: the longest list first, then the most blocks, then the lower axes.
  constexpr void join_lists(std::size_t f) {
    std::array<axis_list, most_operands + most_results> lists{};
    std::size_t count = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if (speaks(t))
        read(t, spec_of(t).layout, false, [&](std::size_t g, axis_list axes, std::size_t) {
          if (g == f && count < lists.size()) lists[count++] = axes;
        });
    const auto before = [&](axis_list a, axis_list b) {
      if (a.size() != b.size()) return a.size() > b.size();
      if (m.size(a) != m.size(b)) return m.size(a) > m.size(b);
      for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) return a[k] < b[k];
      return false;
    };
    for (std::size_t i = 1; i < count; ++i)
      for (std::size_t k = i; k > 0 && before(lists[k], lists[k - 1]); --k) {
        const axis_list moved = lists[k];
        lists[k] = lists[k - 1];
        lists[k - 1] = moved;
      }
    axis_list all;
    for (std::size_t i = 0; i < count; ++i) all.append(lists[i]);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!cut[f].contains(all[k])) note(decision::what::joined, decision::nobody, decision::nobody, f, all[k]);
    cut[f] = all;
  }

  /// What the tensors would receive, and what results would owe, if these axes cut factor f.
  constexpr std::size_t bytes_for(std::size_t f, axis_list axes) const {
    std::size_t bytes = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!speaks(t)) continue;
      read(t, spec_of(t).layout, false, [&](std::size_t g, axis_list, std::size_t d) {
        if (g != f) return;
        sharding to = spec_of(t).layout;
        to.cuts[d] = axes;
        bytes += moved_bytes(spec_of(t).layout, to, spec_of(t).shape, spec_of(t).element_bytes);
      });
    }
    if (r.factors[f].kind != factor_kind::reduce) return bytes;
    for (std::size_t j = 0; j < r.result_count; ++j)
      if ((r.summed_in(j) >> f & 1U) != 0) {
        double block = 4;
        for (const std::size_t extent : result_shape(r, j)) block *= extent == dynamic ? 1 : static_cast<double>(extent);
        for (std::size_t g = 0; g < r.factor_count; ++g)
          if ((r.factors_of(r.operand_count + j) >> g & 1U) != 0) block /= static_cast<double>(m.size(cut[g]));
        const double p = static_cast<double>(m.size(axes));
        bytes += static_cast<std::size_t>(2 * (p - 1) / p * block);
      }
    return bytes;
  }

  // --- each axis to one factor ---

  /// An axis that some tensor keeps whole cuts none of its dimensions.
  constexpr void keep_whole() {
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!is_given(t) || spec_of(t).layout.kept_whole == 0) continue;
      const std::uint32_t here = r.factors_of(t);
      for (std::size_t f = 0; f < r.factor_count; ++f)
        for (std::size_t k = cut[f].size(); (here >> f & 1U) != 0 && k-- > 0;)
          if (const std::size_t a = cut[f][k]; (spec_of(t).layout.kept_whole >> a & 1U) != 0) {
            note(decision::what::keeps_replicating, t, decision::nobody, f, a);
            cut[f] = cut[f].without(a);
          }
    }
  }
  /// Cuts a factor back to what divides it, where blocks must be equal.
  constexpr void truncate(std::size_t f) {
    const factor& one = r.factors[f];
    const bool alone = by.uneven_if_alone && r.operand_count == 1;
    const bool equal_blocks = (by.blocks == policy::uneven::forbid && !alone) || one.group != 0 ||
                              (one.kind == factor_kind::reduce && one.how == reduce::avg);
    if (!equal_blocks || one.size == dynamic || one.loose) return;
    while (!cut[f].empty() && one.size % m.size(cut[f]) != 0) {
      note(decision::what::uneven, decision::nobody, decision::nobody, f, cut[f].back());
      cut[f].pop_back();
    }
  }
  /// The factors of a set that want axis a, in the order in which tensors and dimensions say so.
  constexpr bounded_list<std::uint8_t, most_factors> contenders(std::uint32_t among, std::size_t a) const {
    bounded_list<std::uint8_t, most_factors> all;
    std::uint32_t seen = 0;
    const auto add = [&](std::size_t f) {
      if ((seen >> f & 1U) != 0 || (among >> f & 1U) == 0 || !cut[f].contains(a)) return;
      seen |= std::uint32_t{1} << f;
      all.push_back(static_cast<std::uint8_t>(f));
    };
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if (speaks(t))
        read(t, spec_of(t).layout, false, [&](std::size_t f, axis_list axes, std::size_t) {
          if (axes.contains(a)) add(f);
        });
    for (std::size_t f = 0; f < r.factor_count; ++f) add(f);
    return all;
  }
  constexpr void contest(std::uint32_t among, std::size_t a) {
    using enum policy::conflict;
    const auto all = contenders(among, a);
    if (all.size() < 2) return;
    std::size_t winner = 0;
    const auto worth = [&](std::size_t k) -> double {  // more is better; the first of the best wins
      const std::size_t f = all[k];
      switch (r.alike ? by.alike : by.contest) {
        case larger_dim_wins:
        case join: return r.factors[f].size == dynamic ? 0 : static_cast<double>(r.factors[f].size);
        case most_shards: return static_cast<double>(m.size(cut[f]));
        case align:
        case cost: {
          std::size_t bytes = bytes_for(f, cut[f]);
          for (std::size_t i = 0; i < all.size(); ++i)
            if (i != k) bytes += bytes_for(all[i], cut[all[i]].without(a));
          return -static_cast<double>(bytes);
        }
        case first_wins:
        case error: break;
      }
      return 0;
    };
    if ((r.alike ? by.alike : by.contest) == error)
      refuse_contest(m, r, a, r.factors[all[0]].letter, r.factors[all[1]].letter);
    for (std::size_t k = 1; k < all.size(); ++k)
      if (worth(k) > worth(winner)) winner = k;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (k != winner) {
        note(decision::what::lost, origin[all[k]], decision::nobody, all[k], a, all[winner]);
        cut[all[k]] = cut[all[k]].without(a);
      }
  }
  /// Gives the axes that several factors of one precedence want to one of them; those taken before are gone.
  constexpr void share_out(std::uint32_t among) {
    std::uint32_t wanted = 0, contested = 0;
    for (std::size_t f = 0; f < r.factor_count; ++f) {
      if ((among >> f & 1U) == 0 || cut[f].empty()) continue;
      if ((cut[f].set() & taken) != 0)
        for (std::size_t k = cut[f].size(); k-- > 0;)
          if (const std::size_t a = cut[f][k]; (taken >> a & 1U) != 0) {
            note(decision::what::lost, origin[f], decision::nobody, f, a, holder(a));
            cut[f] = cut[f].without(a);
          }
      truncate(f);
      contested |= wanted & cut[f].set();
      wanted |= cut[f].set();
    }
    for (std::size_t a = 0; contested >> a != 0; ++a)
      if ((contested >> a & 1U) != 0) contest(among, a);
    taken |= wanted;
  }
  constexpr std::size_t holder(std::size_t a) const {
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (cut[f].contains(a)) return f;
    return decision::nobody;
  }
  /// In a merged dimension a factor can be cut only if those before it are cut to single elements.
  constexpr void fit_merged() {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t t = 0; t < r.tensor_count(); ++t)
        for (std::size_t d = 0; d < r.rank(t); ++d) {
          const rule::dimension& here = r.at(t, d);
          bool single = true;
          for (std::size_t k = 0; k < here.count; ++k) {
            const std::size_t f = r.term(here, k);
            if (!single && !cut[f].empty()) {
              note_rest(decision::what::does_not_fit, t, d, f, cut[f], 0);
              cut[f] = axis_list();
              again = true;
            }
            single = single && r.factors[f].size == m.size(cut[f]);
          }
        }
    }
  }

  // --- all of it ---

  /// The policy joins, and operands that are aligned element by element: one of them is followed.
  constexpr bool follows_one() const {
    if (by.disagreement != policy::conflict::join || r.alike) return false;
    std::size_t speakers = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if (speaks(t)) ++speakers;
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (r.factors[f].kind != factor_kind::replicate && r.factors[f].precedence != 0) return false;
    return speakers > 1;
  }
  constexpr std::size_t most_cut_tensor() const {
    std::size_t best = 0, most_lists = 0, most_blocks = 0, most_rank = 0;
    bool found = false;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!speaks(t)) continue;
      std::size_t lists = 0, blocks = 1;
      read(t, spec_of(t).layout, false, [&](std::size_t f, axis_list axes, std::size_t) {
        decision::what why{};
        if (!may_cut(f, why)) return;
        lists += axes.size() > 1;
        blocks *= m.size(axes);
      });
      const bool more = lists != most_lists ? lists > most_lists : blocks != most_blocks ? blocks > most_blocks : r.rank(t) > most_rank;
      if (!found || more) best = t, most_lists = lists, most_blocks = blocks, most_rank = r.rank(t), found = true;
    }
    return best;
  }
  constexpr void follow_one() {
    const std::size_t followed = most_cut_tensor();
    read(followed, spec_of(followed).layout, true,
         [&](std::size_t f, axis_list axes, std::size_t d) { hear(followed, d, f, axes); });
    std::uint32_t used = 0;
    for (std::size_t f = 0; f < r.factor_count; ++f) used |= cut[f].set();
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (t == followed || !speaks(t)) continue;
      read(t, spec_of(t).layout, true, [&](std::size_t f, axis_list axes, std::size_t d) {
        decision::what why{};
        if (!may_cut(f, why)) return note_rest(why, t, d, f, axes, 0);
        for (std::size_t k = 0; k < axes.size(); ++k) {
          if ((used >> axes[k] & 1U) != 0) continue;
          used |= std::uint32_t{1} << axes[k];
          cut[f].push_back(axes[k]);
          note(decision::what::joined, t, d, f, axes[k]);
        }
      });
    }
  }

  constexpr void settle() {
    bool merged = false;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (t < r.operand_count)
        in_operands |= r.factors_of(t);
      else
        in_all_results &= r.factors_of(t);
    }
    for (std::size_t f = 0; f < r.factor_count; ++f) merged = merged || r.factors[f].group != 0;
    if (follows_one()) {
      follow_one();
    } else if (r.alike && by.alike == policy::conflict::align) {
      align();
    } else {
      for (std::size_t t = 0; t < r.tensor_count(); ++t)
        if (speaks(t))
          read(t, spec_of(t).layout, true, [&](std::size_t f, axis_list axes, std::size_t d) { hear(t, d, f, axes); });
      for (std::size_t f = 0; disagreed >> f != 0; ++f)
        if ((disagreed >> f & 1U) != 0) join_lists(f);
    }
    keep_whole();
    if (by.by_precedence) {
      for (std::uint8_t p = 0; p < 3; ++p) {
        std::uint32_t among = 0;
        for (std::size_t f = 0; f < r.factor_count; ++f)
          if (r.factors[f].precedence == p) among |= std::uint32_t{1} << f;
        share_out(among);
      }
    } else {
      share_out(~std::uint32_t{0});
    }
    if (merged) fit_merged();
    taken = 0;
    for (std::size_t f = 0; f < r.factor_count; ++f) taken |= cut[f].set();
  }

  /// Axis by axis: where all speakers agree, that; else the dimension that is cheapest to bring the others to.
  constexpr void align() {
    std::uint32_t held = 0;  // factors that have their axis
    std::uint32_t open = 0;  // axes on which the speakers differ
    for (std::size_t a = 0; a < m.rank(); ++a) {
      std::size_t agreed = most_factors, by_whom = 0;
      bool first = true, same = true;
      for (std::size_t t = 0; t < r.tensor_count(); ++t) {
        if (!speaks(t)) continue;
        std::size_t here = most_factors;
        read(t, spec_of(t).layout, false, [&](std::size_t f, axis_list axes, std::size_t) {
          decision::what why{};
          if (axes.contains(a)) here = may_cut(f, why) ? f : most_factors + 1;
        });
        same = same && here <= most_factors && (first || here == agreed);
        if (first) agreed = here, by_whom = t;
        first = false;
      }
      if (!same) open |= std::uint32_t{1} << a;
      if (same && agreed < most_factors) give(agreed, a, by_whom), held |= std::uint32_t{1} << agreed;
    }
    for (std::size_t a = 0; open >> a != 0; ++a) {
      if ((open >> a & 1U) == 0) continue;
      std::size_t best = most_factors;
      double least = 0;
      for (std::size_t f = 0; f < r.factor_count; ++f) {
        decision::what why{};
        const std::size_t size = r.factors[f].size;
        if ((held >> f & 1U) != 0 || !may_cut(f, why) || (size != dynamic && size < m.size(a))) continue;
        const double price = price_of(f, a);
        if (best == most_factors || price < least) best = f, least = price;
      }
      if (best != most_factors) give(best, a, decision::nobody), held |= std::uint32_t{1} << best;
    }
  }
  constexpr void give(std::size_t f, std::size_t a, std::size_t t) {
    origin[f] = static_cast<std::uint8_t>(t);
    cut[f].push_back(a);
    note(decision::what::took, t, decision::nobody, f, a);
  }
  /// Elements that the speakers hold who do not cut f yet, once for each worker along the axis.
  constexpr double price_of(std::size_t f, std::size_t a) const {
    double price = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!speaks(t) || (r.factors_of(t) >> f & 1U) == 0) continue;
      bool cuts_it = false;
      read(t, spec_of(t).layout, false, [&](std::size_t g, axis_list, std::size_t) { cuts_it = cuts_it || g == f; });
      if (cuts_it) continue;
      double elements = static_cast<double>(m.size(a));
      for (std::size_t d = 0; d < spec_of(t).shape.size(); ++d)
        elements *= (spec_of(t).shape[d] == dynamic ? 1 : static_cast<double>(spec_of(t).shape[d])) / static_cast<double>(m.size(spec_of(t).layout.cuts[d]));
      price += elements;
    }
    return price;
  }
};

}  // namespace partita::detail
