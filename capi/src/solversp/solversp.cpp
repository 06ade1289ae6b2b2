// Handles of cusolverSp, patterns, orderings and permutations.
#include "solversp.hpp"

#include <set>

#include "../blas/blas.hpp"

namespace trn::capi::solversp {

void create(trnsolverSpHandle_t* handle) { create_handle(handle); }
void destroy(Call& c) { alive<trnsolverSpContext>().remove(&c.handle); }

void reached(Call& c, Where where, const char* what) {
  if (where == Where::Device) sparse::host_only(c, what);
}

sparse::Entries pattern_of(Call& c, Where where, Int m, Int n, Int nnz, Description d, const int* offsets,
                           const int* indices) {
  require(m >= 0 && n >= 0 && nnz >= 0, "a matrix of {} x {} with {} entries", m, n, nnz);
  const auto description = look(d);
  if (description->type != TRNSPARSE_MATRIX_TYPE_GENERAL)
    throw WithStatus(TRNSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "the descriptor's type must be GENERAL");
  const auto counted = [&](const char* what, const int* from, Int count) {
    std::vector<Int> found;
    for (const int i : get(c, where, what, from, count)) found.push_back(i - description->base);
    return found;
  };
  const auto lines = counted("csrRowPtr", offsets, m + 1);
  require(lines.back() == nnz, "the last offset is {} (counted from 0), and there are {} entries", lines.back(), nnz);
  return sparse::sorted(m, n, sparse::expand(lines, nnz), counted("csrColInd", indices, nnz), {});
}

ts::DirectOptions ordering_of(int reorder) {
  constexpr ts::Reorder known[] = {ts::Reorder::None, ts::Reorder::ReverseCuthillMcKee, ts::Reorder::MinimumDegree,
                                   ts::Reorder::NestedDissection};
  require(reorder >= 0 && reorder <= 3, "reorder is {}; it must be 0 to 3", reorder);
  ts::DirectOptions options;
  options.ordering = known[reorder];
  return options;
}

void csrissym(Call& c, int m, int nnz, Description d, const int* begin, const int* end, const int* indices,
              int* symmetric) {
  require(m >= 0 && symmetric != nullptr, "m is {}, and issym must be an address", m);
  const int base = look(d)->base;
  const auto from = get(c, Where::Host, "csrRowPtr", begin, m), to = get(c, Where::Host, "csrEndPtr", end, m);
  const auto columns = get(c, Where::Host, "csrColInd", indices, nnz);
  std::set<std::pair<int, int>> entries;
  for (int i = 0; i < m; ++i) {
    const auto row = static_cast<std::size_t>(i);
    require(from[row] >= base && to[row] <= nnz + base, "row {} lies outside of the {} entries", i, nnz);
    for (int k = from[row]; k < to[row]; ++k) entries.emplace(i, columns[static_cast<std::size_t>(k - base)] - base);
  }
  *symmetric = 1;
  for (const auto& [i, j] : entries)
    if (!entries.contains({j, i})) *symmetric = 0;
}

namespace {
void order(Call& c, int n, int nnz, Description d, const int* offsets, const int* indices, int* p, ts::Reorder how) {
  const auto e = pattern_of(c, Where::Host, n, n, nnz, d, offsets, indices);
  const auto found = ts::order_of(ts::Pattern<>(Executor::host(), {n, n}, e.offsets, e.indices), how);
  put(c, Where::Host, "p", p, std::vector<int>(found.begin(), found.end()));
}
}  // namespace
void symrcm(Call& c, int n, int nnz, Description d, const int* offsets, const int* indices, int* p) {
  order(c, n, nnz, d, offsets, indices, p, ts::Reorder::ReverseCuthillMcKee);
}
void symmdq(Call& c, int n, int nnz, Description d, const int* offsets, const int* indices, int* p) {
  order(c, n, nnz, d, offsets, indices, p, ts::Reorder::MinimumDegree);
}
void symamd(Call& c, int n, int nnz, Description d, const int* offsets, const int* indices, int* p) {
  order(c, n, nnz, d, offsets, indices, p, ts::Reorder::MinimumDegree);
}
// METIS's options are its own defaults.
void metisnd(Call& c, int n, int nnz, Description d, const int* offsets, const int* indices, const Int* options,
             int* p) {
  if (options) fail<NotImplemented>("options of METIS; give null");
  order(c, n, nnz, d, offsets, indices, p, ts::Reorder::NestedDissection);
}

// A(p, q) in A's place; the map says which value of A each entry has.
void csrperm(Call& c, int m, int n, int nnz, Description d, int* offsets, int* indices, const int* p, const int* q,
             int* map, void*) {
  const auto e = pattern_of(c, Where::Host, m, n, nnz, d, offsets, indices);
  const auto taken = [&](const char* what, const int* from, Int count) {
    const auto list = get(c, Where::Host, what, from, count);
    return ts::Permutation(list.begin(), list.end());
  };
  const auto rows = taken("p", p, m), columns = ts::inverse(taken("q", q, n));
  (void)ts::inverse(rows);  // refuses what is no permutation
  const auto values = get(c, Where::Host, "map", map, nnz);
  const int base = look(d)->base;
  std::vector<int> new_offsets{base}, new_indices, new_map;
  for (const Int from : rows) {
    std::vector<std::pair<int, int>> row;
    for (Int k = e.offsets[static_cast<std::size_t>(from)]; k < e.offsets[static_cast<std::size_t>(from) + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      row.emplace_back(static_cast<int>(columns[static_cast<std::size_t>(e.indices[at])]),
                       values[static_cast<std::size_t>(e.places[at])]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [j, value] : row) new_indices.push_back(j + base), new_map.push_back(value);
    new_offsets.push_back(static_cast<int>(new_indices.size()) + base);
  }
  put(c, Where::Host, "csrRowPtr", offsets, new_offsets), put(c, Where::Host, "csrColInd", indices, new_indices);
  put(c, Where::Host, "map", map, new_map);
}

void csrlu_nnz(Call&, int* lower, int* upper, trnsolvercsrluInfoHost* info) {
  require(lower != nullptr && upper != nullptr, "the address of a result is null");
  const auto i = look(info);
  require(i->factors.has_value(), "Factor comes first");
  *lower = i->lower, *upper = i->upper;
}

}  // namespace trn::capi::solversp
