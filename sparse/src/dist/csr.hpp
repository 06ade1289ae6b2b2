// What a rank holds of a distributed matrix.
#pragma once

#include <optional>
#include <vector>

#include <trn/sparse/dist_csr.hpp>
#include <trn/sparse/spmm.hpp>

namespace trn::sparse::detail {

template <class T> struct DistCsrData {
  comm::Communicator group;
  Extents extents;
  std::int64_t nnz = 0;
  std::int64_t first_row = 0, rows = 0;        // of this rank
  std::int64_t first_column = 0, columns = 0;  // of x that it has
  std::optional<Csr<T>> local;                 // rows x (below + columns + above), columns in global order
  std::optional<SpmmPlan<T>> plan;
  std::int64_t below = 0, above = 0;  // halo of lower and of higher ranks
  // By rank: how many elements go there and come from there, and which ones go, as places of this rank's part of x.
  std::vector<std::int64_t> send_counts, receive_counts, send_places;

  // The elements of x that this rank's rows need, `width` values each: halo below, `own`, halo above. Collective.
  void gather(const T* own, std::int64_t width, std::vector<T>& all) const;
  // y = alpha A x + beta y for rows of `width` values; `all` is scratch. Collective.
  void multiply(T alpha, const T* x, T beta, T* y, std::int64_t width, std::vector<T>& all) const;
  // Throws InvalidArgument on all ranks where one says what is wrong with its operands; null: nothing is.
  void agree(const char* operation, const char* wrong) const;
  // What is wrong with an operand of this distribution; null: nothing is.
  [[nodiscard]] const char* trouble(const dist::Array<T>& a, const dist::Boxes& boxes) const;
};

}  // namespace trn::sparse::detail
