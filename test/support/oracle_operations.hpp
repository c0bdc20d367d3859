// Random cases of every family of built-in sharding rules, each with the mathematical definition of its operation.
#pragma once

#include <partita/rule/sharding/rules.hpp>
#include "sharding_oracle.hpp"

namespace oracle {

/// The index in a broadcast operand for an index of the result: dimensions are aligned at the end, and the index is 0
/// where the operand has one element.
inline shape_list broadcast_place(const shape_list& i, const shape_list& operand) {
  shape_list place;
  for (std::size_t d = 0; d < operand.size(); ++d)
    place.push_back(operand[d] == 1 ? 0 : i[i.size() - operand.size() + d]);
  return place;
}
/// The letters of a broadcast operand: a dimension of one element that is repeated must not be sharded.
inline std::string broadcast_letters(const shape_list& operand, const shape_list& result) {
  std::string letters;
  const std::string all = alphabet(result.size());
  for (std::size_t d = 0; d < operand.size(); ++d) {
    const std::size_t there = result.size() - operand.size() + d;
    letters += operand[d] == 1 && result[there] != 1 ? '_' : all[there];
  }
  return letters;
}
template <class Random>
shape_list broadcast_from(const shape_list& result, Random& random) {
  shape_list s;
  for (std::size_t d = random() % (result.size() + 1); d < result.size(); ++d)
    s.push_back(random() % 4 == 0 ? 1 : result[d]);
  return s;
}

template <class Random>
operation_case random_elementwise(Random& random) {
  using element = number (*)(const std::vector<number>&);
  struct kind {
    const partita::operation* how;
    std::size_t operands;
    element f;
  };
  static const kind all[] = {
      {&rules::elementwise, 1, [](const std::vector<number>& x) { return x[0] * x[0] - x[0]; }},
      {&rules::elementwise, 3, [](const std::vector<number>& x) { return x[0] * x[1] + x[2] * x[2]; }},
      {&rules::add, 2, [](const std::vector<number>& x) { return x[0] + x[1]; }},
      {&rules::subtract, 2, [](const std::vector<number>& x) { return x[0] - x[1]; }},
      {&rules::add_n, 3, [](const std::vector<number>& x) { return x[0] + x[1] + x[2]; }},
      {&rules::multiply, 2, [](const std::vector<number>& x) { return x[0] * x[1]; }},
      {&rules::divide, 2,
       [](const std::vector<number>& x) { return x[0] * (x[1] * x[1] + 1); }},  // linear only in the first operand
      {&rules::scale, 1, [](const std::vector<number>& x) { return -3 * x[0]; }},
      {&rules::cast, 1, [](const std::vector<number>& x) { return x[0]; }},
      {&rules::assign, 1, [](const std::vector<number>& x) { return x[0]; }},
      {&rules::relu, 1, [](const std::vector<number>& x) { return std::max<number>(x[0], 0); }},
      {&rules::maximum, 2, [](const std::vector<number>& x) { return std::max(x[0], x[1]); }},
      {&rules::where, 3, [](const std::vector<number>& x) { return x[0] > 0 ? x[1] : x[2]; }},
  };
  const kind& chosen = all[random() % std::size(all)];
  operation_case op;
  op.name = chosen.how->name;
  shape_list result = some_shape(random, 0, 3);
  for (std::size_t t = 0; t < chosen.operands; ++t)
    op.operands.push_back(t == 0 ? result : broadcast_from(result, random));
  if (chosen.operands > 1) std::swap(op.operands[0], op.operands[random() % chosen.operands]);
  for (const shape_list& s : op.operands) op.letters += broadcast_letters(s, result) + ",";
  op.letters.back() = '>';
  op.letters += alphabet(result.size());
  op.results = {result};
  op.how = (*chosen.how)(shape_span(op.operands.data(), op.operands.size()));
  op.value = [f = chosen.f, shapes = op.operands](const std::vector<view>& x, std::size_t, const shape_list& i,
                                                  const ranges&) {
    std::vector<number> values;
    for (std::size_t t = 0; t < x.size(); ++t) values.push_back(x[t](broadcast_place(i, shapes[t])));
    return f(values);
  };
  return op;
}

template <class Random>
operation_case random_matmul(Random& random) {
  operation_case op;
  const bool vector_x = random() % 6 == 0, vector_y = random() % 6 == 0, tx = !vector_x && random() % 3 == 0,
             ty = !vector_y && random() % 3 == 0;
  const auto m = extent(random), k = extent(random), n = extent(random);
  shape_list batch = some_shape(random, 0, 1), xb = broadcast_from(batch, random), yb = batch;
  if (random() % 2 == 0) std::swap(xb, yb);
  if (vector_x) xb = shape_list();
  if (vector_y) yb = shape_list();
  batch = shape_list();
  for (std::size_t d = std::max(xb.size(), yb.size()); d > 0; --d)
    batch.push_back(std::max(d <= xb.size() ? xb[xb.size() - d] : 1, d <= yb.size() ? yb[yb.size() - d] : 1));
  shape_list x = xb, y = yb, z = batch;
  std::string lx = broadcast_letters(xb, batch), ly = broadcast_letters(yb, batch), lz = alphabet(batch.size());
  if (vector_x) x.push_back(k), lx += 'k';
  else x.push_back(tx ? k : m), x.push_back(tx ? m : k), lx += tx ? "km" : "mk", z.push_back(m), lz += 'm';
  if (vector_y) y.push_back(k), ly += 'k';
  else y.push_back(ty ? n : k), y.push_back(ty ? k : n), ly += ty ? "nk" : "kn", z.push_back(n), lz += 'n';
  op.operands = {x, y};
  op.results = {z};
  op.letters = lx + "," + ly + ">" + lz;
  op.how = rules::matmul_transposed(tx, ty)(shape_span(op.operands.data(), 2));
  op.name = "matmul " + op.letters;
  op.value = [=, rank = batch.size()](const std::vector<view>& v, std::size_t, const shape_list& i,
                                      const ranges& local) {
    shape_list b;
    for (std::size_t d = 0; d < rank; ++d) b.push_back(i[d]);
    const std::size_t row = vector_x ? 0 : i[rank], column = vector_y ? 0 : i[i.size() - 1];
    number all = 0;
    for (std::size_t c = local['k'].start; c < local['k'].stop; ++c) {
      shape_list px = broadcast_place(b, xb), py = broadcast_place(b, yb);
      if (vector_x) px.push_back(c);
      else px.push_back(tx ? c : row), px.push_back(tx ? row : c);
      if (vector_y) py.push_back(c);
      else py.push_back(ty ? column : c), py.push_back(ty ? c : column);
      all += v[0](px) * v[1](py);
    }
    return all;
  };
  return op;
}

template <class Random>
operation_case random_reduction(Random& random) {
  static constexpr pending_reduction kinds[] = {
      pending_reduction::sum, pending_reduction::avg,  pending_reduction::max,
      pending_reduction::min, pending_reduction::prod, pending_reduction::any,
      pending_reduction::all, pending_reduction::none, pending_reduction::none};
  const std::size_t case_number = random() % std::size(kinds);
  const pending_reduction kind = kinds[case_number];
  const bool squares = case_number == 8, keep = random() % 2 == 0;
  operation_case op;
  const shape_list x = some_shape(random, 1, 3);
  attributes::list axes;
  std::string lx = alphabet(x.size()), lz, reduced;
  shape_list z;
  number count = 1;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (random() % 2 == 0) {
      axes.push_back(static_cast<std::ptrdiff_t>(d) - (random() % 2 == 0 ? static_cast<std::ptrdiff_t>(x.size()) : 0));
      count *= static_cast<number>(x[d]);
      reduced += lx[d];
      if (keep) z.push_back(1), lz += '_';
    } else {
      z.push_back(x[d]), lz += lx[d];
    }
  }
  if (axes.empty()) return random_reduction(random);
  const std::string all_letters = lx;
  if (kind == pending_reduction::none && !squares)
    for (char& c : lx)
      if (reduced.find(c) != std::string::npos) c = '_';
  op.operands = {x};
  op.results = {z};
  op.letters = lx + ">" + lz;
  op.how = (squares ? rules::sum_of_function(axes, keep)
                    : rules::reduction(kind, axes, keep))(shape_span(op.operands.data(), 1));
  op.name = squares                           ? "sum of squares"
            : kind == pending_reduction::none ? "whole reduction"
                                              : std::string("reduction ") + name_of(kind);
  if (kind == pending_reduction::avg) op.times = count;
  if (kind == pending_reduction::prod) op.low = -1, op.high = 1;
  if (kind == pending_reduction::any || kind == pending_reduction::all) op.low = 0, op.high = 1;
  op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges& local) {
    auto place = shape_list::filled(x.size(), 0);
    std::array<interval, 16> range{};
    for (std::size_t d = 0, from = 0; d < x.size(); ++d) {
      const bool is_reduced = reduced.find(all_letters[d]) != std::string::npos;
      range[d] = !is_reduced ? interval{i[from], i[from] + 1} : lx[d] == '_' ? interval{0, x[d]} : local[lx[d]];
      if (!is_reduced || keep) ++from;
    }
    bool first = true;
    number result = 0, n = 0, least = 0, most = 0;
    const std::function<void(std::size_t)> walk = [&](std::size_t d) {
      if (d < x.size()) {
        for (std::size_t k = range[d].start; k < range[d].stop; ++k) place[d] = k, walk(d + 1);
        return;
      }
      const number value = squares ? v[0](place) * v[0](place) : v[0](place);
      least = first ? value : std::min(least, value), most = first ? value : std::max(most, value);
      result = first                             ? value
               : kind == pending_reduction::none ? (squares ? result + value : most * most - least)
                                                 : combine(kind, result, value);
      first = false;
      ++n;
    };
    walk(0);
    // the result of a worker without elements is the neutral element
    if (first && kind == pending_reduction::prod) return number{1};
    if (first && kind == pending_reduction::all) return number{1};
    if (first && kind == pending_reduction::max) return number{-1000000};
    if (first && kind == pending_reduction::min) return number{1000000};
    if (first && kind == pending_reduction::avg) throw std::runtime_error("the mean of nothing");
    if (kind == pending_reduction::avg && result % n != 0) throw std::runtime_error("a mean is no integer");
    return kind == pending_reduction::avg ? result / n : result;
  };
  return op;
}

/// Operations along dimensions that must not be sharded: softmax, cumulative sum, roll, triangle.
template <class Random>
operation_case random_along(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 4;
  const shape_list x = some_shape(random, case_number == 3 ? 2 : 1, 3);
  const std::size_t c = random() % x.size(), rank = x.size();
  std::string letters = alphabet(rank);
  if (case_number == 3) letters[rank - 1] = letters[rank - 2] = '_';
  else letters[c] = '_';
  const auto axis = static_cast<std::ptrdiff_t>(c);
  const partita::operation how = case_number == 0   ? rules::softmax(axis)
                                 : case_number == 1 ? rules::cumsum(axis)
                                 : case_number == 2 ? rules::roll({axis})
                                                    : rules::triu();
  static const char* const names[] = {"softmax", "cumsum", "roll", "triu"};
  op.name = names[case_number];
  op.operands = op.results = {x};
  op.letters = letters + ">" + letters;
  op.how = how(shape_span(op.operands.data(), 1));
  op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges&) {
    number all = 0;
    if (case_number == 0) {
      for (std::size_t k = 0; k < x[c]; ++k) all += v[0](replaced(i, c, k)) * v[0](replaced(i, c, k));
      return v[0](i) * all;  // like softmax: every element depends non-linearly on its whole row
    }
    if (case_number == 1) {
      for (std::size_t k = 0; k <= i[c]; ++k) all += v[0](replaced(i, c, k));
      return all;
    }
    if (case_number == 2) return v[0](replaced(i, c, (i[c] + 1) % x[c]));
    return i[rank - 1] >= i[rank - 2] ? v[0](i) : number{0};
  };
  return op;
}

template <class Random>
operation_case random_reshape(Random& random) {
  operation_case op;
  shape_list x = some_shape(random, 1, 3), z;
  std::size_t volume = 1;
  for (const std::size_t e : x) volume *= e;
  // the new extents are any factorisation of the number of elements
  for (std::size_t remaining = volume; remaining > 1 || z.empty();) {
    std::size_t e = 1 + random() % remaining;
    while (remaining % e != 0) ++e;
    if (z.size() == 3) e = remaining;
    z.push_back(e);
    remaining /= e;
    if (remaining == 1 && (z.size() > 3 || random() % 2 == 0)) break;
  }
  if (random() % 2 == 0) std::swap(x, z);
  op.name = "reshape";
  op.operands = {x};
  op.results = {z};
  op.how = reshape_rule(x, z);
  op.by_order = true;
  return op;
}

template <class Random>
operation_case random_movement(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 6;
  const shape_list x = some_shape(random, 1, 3);
  const std::size_t rank = x.size(), c = random() % rank;
  const auto axis = static_cast<std::ptrdiff_t>(c);
  std::string lx = alphabet(rank), lz = lx;
  shape_list z = x;
  partita::operation how{};
  std::array<std::size_t, 16> order{};
  std::iota(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rank), std::size_t{0});
  switch (case_number) {
    case 0: {
      std::shuffle(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rank), random);
      attributes::list axes;
      for (std::size_t d = 0; d < rank; ++d)
        z[d] = x[order[d]], lz[d] = lx[order[d]], axes.push_back(static_cast<std::ptrdiff_t>(order[d]));
      how = rules::transpose(axes);
      break;
    }
    case 1:
      how = rules::unsqueeze({axis}), z = inserted(x, c, 1), lz.insert(c, "_");
      break;
    case 2: {  // adds a dimension in front, and repeats dimensions of one element
      attributes::list extents{3};
      for (std::size_t d = 0; d < rank; ++d) {
        if (x[d] == 1) z[d] = 4, lx[d] = '_', lz[d] = static_cast<char>('p' + static_cast<int>(d));
        extents.push_back(static_cast<std::ptrdiff_t>(z[d]));
      }
      how = rules::expand(extents), z = inserted(z, 0, 3), lz = "z" + lz;
      break;
    }
    case 3: {
      attributes::list repeats;
      for (std::size_t d = 0; d < rank; ++d) repeats.push_back(d == c ? 2 : 1);
      how = rules::tile(repeats), z[c] *= 2, lx[c] = lz[c] = '_';
      break;
    }
    case 4:
      z[c] = (x[c] + 1) / 2, how = rules::slice({axis}, {static_cast<std::ptrdiff_t>(z[c])}), lx[c] = lz[c] = '_';
      break;
    default:
      z[c] = x[c] + 2, how = rules::pad({axis}, {static_cast<std::ptrdiff_t>(z[c])}), lx[c] = lz[c] = '_';
  }
  static const char* const names[] = {"transpose", "unsqueeze", "expand", "tile", "slice", "pad"};
  op.name = names[case_number];
  op.operands = {x};
  op.results = {z};
  op.letters = lx + ">" + lz;
  op.how = how(shape_span(op.operands.data(), 1));
  op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges&) {
    shape_list from = i;
    if (case_number == 0)
      for (std::size_t d = 0; d < rank; ++d) from[order[d]] = i[d];
    if (case_number == 1) from = without(i, c);
    if (case_number == 2) {
      from = without(i, 0);
      for (std::size_t d = 0; d < rank; ++d)
        if (x[d] == 1) from[d] = 0;
    }
    if (case_number == 3) from[c] = i[c] % x[c];
    if (case_number == 4) from[c] = x[c] - z[c] + i[c];
    if (case_number == 5 && (i[c] == 0 || i[c] == x[c] + 1)) return number{7};
    if (case_number == 5) from[c] = i[c] - 1;
    return v[0](from);
  };
  return op;
}

template <class Random>
operation_case random_join(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 4;
  const shape_list x = some_shape(random, 1, 3);
  const std::size_t rank = x.size(), c = random() % rank;
  const auto axis = static_cast<std::ptrdiff_t>(c);
  std::string lx = alphabet(rank);
  op.operands = {x};
  if (case_number < 2) {
    for (std::size_t k = 1 + random() % 2; k > 0; --k)
      op.operands.push_back(case_number == 0 ? replaced(x, c, extent(random)) : x);
    std::size_t length = 0;
    for (const auto& s : op.operands) length += s[c];
    std::string lz = lx;
    if (case_number == 0) lx[c] = '_', lz[c] = '_';
    else lz.insert(c, "_");
    for (std::size_t k = 0; k < op.operands.size(); ++k) op.letters += lx + (k + 1 < op.operands.size() ? "," : ">");
    op.letters += lz;
    op.results = {case_number == 0 ? replaced(x, c, length) : inserted(x, c, op.operands.size())};
    op.how = (case_number == 0 ? rules::concatenate(axis)
                               : rules::stack(axis))(shape_span(op.operands.data(), op.operands.size()));
  } else {
    std::string lz = lx;
    lx[c] = '_';
    attributes::list sizes;
    if (case_number == 2) {
      const std::size_t first = random() % (x[c] + 1);
      sizes = {static_cast<std::ptrdiff_t>(first), static_cast<std::ptrdiff_t>(x[c] - first)};
      op.results = {replaced(x, c, first), replaced(x, c, x[c] - first)};
      lz[c] = '_';
    } else {
      lz.erase(c, 1);
      for (std::size_t k = 0; k < x[c]; ++k) op.results.push_back(without(x, c));
    }
    op.letters = lx;
    for (std::size_t k = 0; k < op.results.size(); ++k) op.letters += (k == 0 ? ">" : ",") + lz;
    op.how = (case_number == 2 ? rules::split(axis, sizes) : rules::unbind(axis))(shape_span(op.operands.data(), 1));
  }
  static const char* const names[] = {"concatenate", "stack", "split", "unbind"};
  op.name = names[case_number];
  op.value = [=, shapes = op.operands, first = op.results[0]](const std::vector<view>& v, std::size_t j,
                                                              const shape_list& i, const ranges&) {
    if (case_number == 0) {
      std::size_t t = 0, at = i[c];
      while (at >= shapes[t][c]) at -= shapes[t++][c];
      return v[t](replaced(i, c, at));
    }
    if (case_number == 1) return v[i[c]](without(i, c));
    if (case_number == 2) return v[0](replaced(i, c, i[c] + (j == 0 ? 0 : first[c])));
    return v[0](inserted(i, c, j));
  };
  return op;
}

template <class Random>
operation_case random_indexing(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 6;
  const shape_list x = some_shape(random, case_number == 2 ? 2 : 1, 2), i = some_shape(random, 0, 2);
  const std::size_t rank = x.size(), c = random() % rank;
  const auto axis = static_cast<std::ptrdiff_t>(c);
  std::string lx = alphabet(rank), li = std::string("pqrs").substr(0, i.size()), lz = lx;
  const std::string order = lx;
  static const char* const names[] = {"gather",          "embedding", "vocabulary embedding",
                                      "take_along_axis", "one_hot",   "scatter"};
  op.name = names[case_number];
  op.indices = 2;
  const auto made = [&](const partita::operation& how) {
    op.how = how(shape_span(op.operands.data(), op.operands.size()));
  };
  if (case_number == 0) {
    lx[c] = '_', lz.replace(c, 1, li);
    shape_list z;
    for (std::size_t d = 0; d < rank; ++d) {
      if (d != c) z.push_back(x[d]);
      for (std::size_t k = 0; d == c && k < i.size(); ++k) z.push_back(i[k]);
    }
    op.operands = {x, i}, op.results = {z}, op.letters = lx + "," + li + ">" + lz,
    op.index_limit = static_cast<number>(x[c]);
    made(rules::gather(axis));
    op.value = [=, n = i.size()](const std::vector<view>& v, std::size_t, const shape_list& at, const ranges&) {
      shape_list where, from;
      for (std::size_t k = 0; k < n; ++k) where.push_back(at[c + k]);
      for (std::size_t d = 0; d < rank; ++d)
        from.push_back(d < c ? at[d] : d == c ? static_cast<std::size_t>(v[1](where)) : at[d + n - 1]);
      return v[0](from);
    };
  } else if (case_number < 3) {
    const std::size_t rows = extent(random), columns = extent(random);
    shape_list z = i;
    z.push_back(columns);
    const shape_list table{rows, columns};
    const std::size_t ids = case_number == 1 ? 0 : 1;
    op.operands = ids == 0 ? std::vector<shape_list>{i, table} : std::vector<shape_list>{table, i};
    op.letters = ids == 0 ? li + ",vh>" + li + "h" : "vh," + li + ">" + li + "h";
    op.results = {z}, op.indices = ids == 0 ? 1 : 2, op.index_limit = static_cast<number>(rows);
    made(ids == 0 ? rules::embedding() : rules::vocabulary_embedding);
    op.value = [=, n = i.size()](const std::vector<view>& v, std::size_t, const shape_list& at, const ranges& local) {
      shape_list where;
      for (std::size_t k = 0; k < n; ++k) where.push_back(at[k]);
      const auto row = static_cast<std::size_t>(v[ids](where));
      return row < local['v'].start || row >= local['v'].stop
                 ? number{0}
                 : v[1 - ids](shape_list{row, at[n]});  // reads a row that another worker may hold
    };
  } else if (case_number == 3) {
    const shape_list there = replaced(x, c, extent(random));
    lx[c] = '_', lz[c] = 'z';
    op.operands = {x, there}, op.results = {there}, op.letters = lx + "," + lz + ">" + lz,
    op.index_limit = static_cast<number>(x[c]);
    made(rules::take_along_axis(axis));
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& at, const ranges&) {
      return v[0](replaced(at, c, static_cast<std::size_t>(v[1](at))));
    };
  } else if (case_number == 4) {
    op.operands = {x}, op.results = {inserted(x, rank, 4)}, op.letters = lx + ">" + lx + "z", op.indices = 1,
    op.index_limit = 4;
    made(rules::one_hot(4));
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& at, const ranges&) {
      return number{static_cast<number>(at[rank]) == v[0](without(at, rank))};
    };
  } else {
    const std::size_t n = extent(random);
    lx[0] = '_';
    op.operands = {x, {n}, replaced(x, 0, n)}, op.results = {x}, op.letters = lx + ",_," + lx + ">" + lx,
    op.index_limit = static_cast<number>(x[0]);
    made(rules::scatter);
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& at, const ranges&) {
      number all = v[0](at);
      for (std::size_t k = 0; k < n; ++k)
        if (static_cast<std::size_t>(v[1](shape_list{k})) == at[0]) all += v[2](replaced(at, 0, k));
      return all;
    };
  }
  return op;
}

/// Norms, cross entropy, attention and convolution, as simplified functions that read the same elements.
template <class Random>
operation_case random_network(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 4;
  const auto size = random_sizes(random);
  const auto shapes = [&](std::initializer_list<const char*> operands, std::initializer_list<const char*> results) {
    for (const char* o : operands) op.operands.push_back(sized(o, size));
    for (const char* r : results) op.results.push_back(sized(r, size));
  };
  const auto made = [&](const char* name, const partita::operation& how) {
    op.name = name;
    op.how = how(shape_span(op.operands.data(), op.operands.size()));
  };
  if (case_number == 0) {
    shapes({"abc", "c", "c"}, {"abc", "ab", "ab"});
    op.letters = "ab_,_,_>ab_,ab,ab";
    made("layer_norm", rules::layer_norm());
    op.value = [n = size['c']](const std::vector<view>& v, std::size_t j, const shape_list& i, const ranges&) {
      number sum = 0, squares = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const number x = v[0](shape_list{i[0], i[1], k});
        sum += x, squares += x * x;
      }
      return j == 1   ? sum
             : j == 2 ? squares
                      : v[0](i) * v[1](shape_list{i[2]}) * squares - sum * v[2](shape_list{i[2]});
    };
  } else if (case_number == 1) {
    shapes({"abc", "ab"}, {"abc", "ab"});
    op.results[1].push_back(1);
    op.letters = "ab_,ab>ab_,ab_";
    op.indices = 2, op.index_limit = static_cast<number>(size['c']);
    made("cross entropy", rules::cross_entropy_with_softmax(-1, false, false));
    op.value = [n = size['c']](const std::vector<view>& v, std::size_t j, const shape_list& i, const ranges&) {
      number squares = 0;
      for (std::size_t k = 0; k < n; ++k) squares += v[0](replaced(i, 2, k)) * v[0](replaced(i, 2, k));
      if (j == 0) return v[0](i) * squares;
      return squares - v[0](replaced(i, 2, static_cast<std::size_t>(v[1](shape_list{i[0], i[1]}))));
    };
  } else if (case_number == 2) {
    shapes({"bshd", "bthd", "bthe"}, {"bshe", "bhst", "bhs"});
    const bool by_position = random() % 2 == 0;
    op.letters = by_position ? "bsh_,b_h_,b_h_>bsh_,bhs_,bhs" : "b_h_,b_h_,b_h_>b_h_,bh__,bh_";
    made("attention", by_position ? rules::sequence_parallel_attention : rules::attention);
    op.value = [t = size['t'], d = size['d']](const std::vector<view>& v, std::size_t j, const shape_list& i,
                                              const ranges&) {
      const std::size_t b = i[0], s = j == 0 ? i[1] : i[2], h = j == 0 ? i[2] : i[1];
      const auto score = [&](std::size_t at) {
        number all = 0;
        for (std::size_t k = 0; k < d; ++k) all += v[0](shape_list{b, s, h, k}) * v[1](shape_list{b, at, h, k});
        return all * all;
      };
      if (j == 1) return score(i[3]);
      number all = 0;
      for (std::size_t at = 0; at < t; ++at) all += score(at) * (j == 2 ? 1 : v[2](shape_list{b, at, h, i[3]}));
      return all;
    };
  } else {
    shapes({"ncab", "mcab"}, {"nmab"});
    op.letters = "nc__,mc__>nm__";
    made("convolution", rules::convolution);
    op.value = [a = size['a'], b = size['b']](const std::vector<view>& v, std::size_t, const shape_list& i,
                                              const ranges& local) {
      number all = 0;  // the convolution is periodic
      for (std::size_t c = local['c'].start; c < local['c'].stop; ++c)
        for (std::size_t p = 0; p < a; ++p)
          for (std::size_t q = 0; q < b; ++q)
            all += v[0](shape_list{i[0], c, (i[2] + p) % a, (i[3] + q) % b}) * v[1](shape_list{i[1], c, p, q});
      return all;
    };
  }
  return op;
}

/// Norms over groups, channels and batches, products with a bias, convolutions in groups.
template <class Random>
operation_case random_layer(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 7;
  const auto made = [&](const char* name, const char* letters, const partita::operation& how) {
    op.name = name, op.letters = letters;
    op.how = how(shape_span(op.operands.data(), op.operands.size()));
  };
  const std::size_t n = extent(random), places = one_of(random, {2, 3});
  if (case_number < 2) {
    const std::size_t groups = one_of(random, {1, 2, 2, 3, 4}), each = case_number == 1 ? 1 : one_of(random, {1, 2, 3}),
                      c = groups * each;
    op.operands = {{n, c, places}, {c}, {c}}, op.results = {{n, c, places}, {n, groups}, {n, groups}};
    case_number == 0 ? made("group_norm", "nc_,c,c>nc_,ng,ng", rules::group_norm(groups))
                     : made("instance_norm", "nc_,c,c>nc_,nc,nc", rules::instance_norm);
    op.value = [=](const std::vector<view>& v, std::size_t j, const shape_list& i, const ranges&) {
      const std::size_t g = j == 0 ? i[1] / each : i[1];
      number sum = 0, squares = 0;
      for (std::size_t k = g * each; k < (g + 1) * each; ++k)
        for (std::size_t p = 0; p < places; ++p) {
          const number x = v[0](shape_list{i[0], k, p});
          sum += x, squares += x * x;
        }
      return j == 1   ? sum
             : j == 2 ? squares
                      : v[0](i) * squares * v[1](shape_list{i[1]}) - sum * v[2](shape_list{i[1]});
    };
  } else if (case_number == 2) {
    const bool inference = random() % 2 == 0;
    const std::size_t c = extent(random);
    op.operands = {{n, c, places}, {c}, {c}, {c}, {c}}, op.results = {{n, c, places}};
    for (std::size_t k = 0; !inference && k < 4; ++k) op.results.push_back({c});
    inference ? made("batch_norm inference", "ncp,c,c,c,c>ncp", rules::batch_norm_inference)
              : made("batch_norm", "_c_,c,c,c,c>_c_,c,c,c,c", rules::batch_norm);
    op.value = [=](const std::vector<view>& v, std::size_t j, const shape_list& i, const ranges&) {
      const shape_list channel_index{j == 0 ? i[1] : i[0]};
      if (inference)
        return (v[0](i) - v[1](channel_index)) * v[2](channel_index) * v[3](channel_index) + v[4](channel_index);
      number sum = 0, squares = 0;
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t p = 0; p < places; ++p) {
          const number x = v[0](shape_list{k, channel_index[0], p});
          sum += x, squares += x * x;
        }
      if (j == 0) return (v[0](i) - sum) * squares * v[3](channel_index) + v[4](channel_index);
      return j == 1 ? v[1](channel_index) + sum : j == 2 ? v[2](channel_index) * squares : j == 3 ? sum : squares;
    };
  } else if (case_number == 3) {
    const std::size_t k = extent(random), m = extent(random);
    const bool t = random() % 2 == 0;
    op.operands = {{n, k}, t ? shape_list{m, k} : shape_list{k, m}, {m}}, op.results = {{n, m}};
    made("matmul_bias", t ? "n_,m_,m>nm" : "n_,_m,m>nm", rules::matmul_bias(false, t));
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges&) {
      number all = v[2](shape_list{i[1]});
      for (std::size_t a = 0; a < k; ++a)
        all += v[0](shape_list{i[0], a}) * v[1](t ? shape_list{i[1], a} : shape_list{a, i[1]});
      return all;
    };
  } else {
    const bool depthwise = case_number == 4, transposed = case_number == 6;
    const std::size_t groups = one_of(random, {2, 2, 3, 4}), from = depthwise ? 1 : one_of(random, {1, 2, 3}),
                      to = one_of(random, {1, 2, 3}), c = groups * from, m = groups * to;
    op.operands = {{n, c, places}, transposed ? shape_list{c, to, places} : shape_list{m, from, places}};
    op.results = {{n, m, places}};
    made(depthwise    ? "depthwise convolution"
         : transposed ? "transposed convolution in groups"
                      : "grouped convolution",
         transposed             ? "nc_,ce_>nm_"
         : depthwise && to == 1 ? "nm_,m__>nm_"
                                : "nc_,m__>nm_",
         depthwise    ? rules::depthwise_convolution
         : transposed ? rules::transposed_convolution(groups)
                      : rules::grouped_convolution(groups));
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges&) {
      const std::size_t g = i[1] / to;
      number all = 0;
      for (std::size_t k = 0; k < from; ++k)
        for (std::size_t p = 0; p < places; ++p)
          all += v[0](shape_list{i[0], g * from + k, (i[2] + p) % places}) *
                 v[1](transposed ? shape_list{g * from + k, i[1] % to, p} : shape_list{i[1], k, p});
      return all;
    };
  }
  return op;
}

/// Writes at given indices, cumulative extremes, mixtures of experts, optimisers.
template <class Random>
operation_case random_update(Random& random) {
  operation_case op;
  const std::size_t case_number = random() % 7;
  const auto made = [&](const char* name, const std::string& letters, const partita::operation& how) {
    op.name = name, op.letters = letters;
    op.how = how(shape_span(op.operands.data(), op.operands.size()));
  };
  const shape_list x = some_shape(random, 2, 2);
  const std::size_t c = random() % 2, rows = extent(random);
  const auto axis = static_cast<std::ptrdiff_t>(c);
  if (case_number == 0) {
    const shape_list there = replaced(x, c, rows);
    std::string l = "ab";
    l[c] = '_';
    op.operands = {x, there, there}, op.results = {x}, op.indices = 2, op.index_limit = static_cast<number>(x[c]);
    made("put_along_axis", l + "," + l + "," + l + ">" + l, rules::put_along_axis(axis));
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges&) {
      number last = v[0](i);
      for (std::size_t k = 0; k < rows; ++k)
        if (static_cast<std::size_t>(v[1](replaced(i, c, k))) == i[c]) last = v[2](replaced(i, c, k));
      return last;
    };
  } else if (case_number < 3) {
    op.operands = {x, case_number == 1 ? shape_list{rows, std::size_t{1}} : shape_list{rows}, shape_list{rows, x[1]}};
    op.results = {x}, op.indices = 2, op.index_limit = static_cast<number>(x[0]);
    case_number == 1 ? made("scatter_nd_add", "_b,__,_b>_b", rules::scatter_nd_add)
                     : made("index_put", "_b,_,_b>_b", rules::index_put);
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges&) {
      number all = v[0](i);
      for (std::size_t k = 0; k < rows; ++k) {
        const number at = v[1](case_number == 1 ? shape_list{k, std::size_t{0}} : shape_list{k});
        if (static_cast<std::size_t>(at) == i[0]) all = (case_number == 1 ? all : 0) + v[2](shape_list{k, i[1]});
      }
      return all;
    };
  } else if (case_number == 3) {
    std::string l = "ab";
    l[c] = '_';
    op.operands = {x}, op.results = {x, x};
    const bool most = random() % 2 == 0;
    made(most ? "cummax" : "cummin", l + ">" + l + "," + l, most ? rules::cummax(axis) : rules::cummin(axis));
    op.value = [=](const std::vector<view>& v, std::size_t j, const shape_list& i, const ranges&) {
      std::size_t extreme_index = 0;
      for (std::size_t k = 0; k <= i[c]; ++k) {
        const number now = v[0](replaced(i, c, k)), then = v[0](replaced(i, c, extreme_index));
        if (most ? now > then : now < then) extreme_index = k;
      }
      return j == 1 ? static_cast<number>(extreme_index) : v[0](replaced(i, c, extreme_index));
    };
  } else if (case_number == 4) {
    const std::size_t s = extent(random), h = extent(random), e = extent(random), places = 2, chosen = 2;
    op.operands = {{s, h}, {s, e}}, op.results = {{e, places, h}, {s, chosen}, {chosen, s}, {s, chosen}};
    made("expert_dispatch", "_h,__>e_h,__,__,__", rules::expert_dispatch(chosen, places));
    op.value = [=](const std::vector<view>& v, std::size_t j, const shape_list& i, const ranges&) {
      number gates = 0;
      for (std::size_t a = 0; a < s; ++a)
        for (std::size_t b = 0; b < e; ++b) gates += v[1](shape_list{a, b}) * static_cast<number>(a + 2 * b + 1);
      if (j > 0) return gates * static_cast<number>(i[0] + i[1]);
      number all = 0;  // every place depends on the gates of all tokens
      for (std::size_t a = 0; a < s; ++a)
        all += v[0](shape_list{a, i[2]}) * v[1](shape_list{a, i[0]}) * gates + static_cast<number>(i[1]);
      return all;
    };
  } else if (case_number == 5) {
    const std::size_t s = extent(random), k = extent(random), h = extent(random);
    op.operands = {{rows, h}, {s, k}, {s, k}}, op.results = {{s, h}};
    op.indices = 4, op.index_limit = static_cast<number>(rows);
    made("expert_combine", "_h,sk,sk>sh", rules::expert_combine);
    op.value = [=](const std::vector<view>& v, std::size_t, const shape_list& i, const ranges& local) {
      number all = 0;
      for (std::size_t a = local['k'].start; a < local['k'].stop; ++a)
        all += v[1](shape_list{i[0], a}) * v[0](shape_list{static_cast<std::size_t>(v[2](shape_list{i[0], a})), i[1]});
      return all;
    };
  } else {
    const std::size_t kind = random() % 3;
    const shape_list one{std::size_t{1}};
    if (kind == 0) op.operands = {x, one, x}, op.results = {x}, made("sgd", "ab,_,ab>ab", rules::sgd);
    if (kind == 1)
      op.operands = {x, x, x, one}, op.results = {x, x}, made("momentum", "ab,ab,ab,_>ab,ab", rules::momentum);
    if (kind == 2)
      op.operands = {x, x, one, x, x, one, one}, op.results = {x, x, x, one, one},
      made("adam", "ab,ab,_,ab,ab,_,_>ab,ab,ab,_,_", rules::adam);
    op.value = [x, shapes = op.operands](const std::vector<view>& v, std::size_t j, const shape_list& i,
                                         const ranges&) {
      const shape_list first{std::size_t{0}};
      number all = static_cast<number>(j + 1);
      for (std::size_t t = 0; t < v.size(); ++t) {
        if (i.size() == 2) all = all * 2 + v[t](shapes[t] == x ? i : first) * v[t](shapes[t] == x ? i : first);
        else if (!(shapes[t] == x)) all = all * 2 + v[t](first);
      }
      return all;
    };
  }
  return op;
}

/// The gradients of an einsum by its derived rules: the gradient of each operand from the other operands and the
/// gradient of the result.
template <class Random>
operation_case random_gradient(Random& random) {
  operation_case forward = random_einsum(random), op;
  const auto letters = letters_by_tensor(forward.letters);
  const std::size_t n = forward.operands.size();
  op.name = "gradient of " + forward.name;
  op.operands = forward.operands;
  op.operands.push_back(forward.results[0]);
  op.results = forward.operands;
  for (std::size_t t = 0; t <= n; ++t) op.letters += letters[t] + (t < n ? "," : ">");
  for (std::size_t t = 0; t < n; ++t) op.letters += letters[t] + (t + 1 < n ? "," : "");
  op.how = gradient(bind_shapes(forward.how, shape_span(forward.operands.data(), n)));
  const auto all = letters_by_tensor(op.letters);
  op.value = [all, n](const std::vector<view>& x, std::size_t j, const shape_list& i, const ranges& local) {
    return einsum_value(all, n + 1 + j, ((std::uint32_t{2} << n) - 1U) & ~(std::uint32_t{1} << j), x, i, local);
  };
  return op;
}

template <class Random>
operation_case random_operation(Random& random) {
  switch (random() % 14) {
    case 0:
    case 1:
      return random_einsum(random);
    case 2:
      return random_matmul(random);
    case 3:
      return random_elementwise(random);
    case 4:
      return random_reduction(random);
    case 5:
      return random_along(random);
    case 6:
      return random_reshape(random);
    case 7:
      return random_movement(random);
    case 8:
      return random_join(random);
    case 9:
      return random_indexing(random);
    case 10:
      return random_network(random);
    case 11:
      return random_layer(random);
    case 12:
      return random_update(random);
    default:
      return random_gradient(random);
  }
}

}  // namespace oracle
