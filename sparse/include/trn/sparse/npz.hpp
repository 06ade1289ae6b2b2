// SciPy's .npz files: what scipy.sparse.save_npz writes and load_npz reads, stored or deflated. Read: csr, csc, coo,
// bsr and dia, of any numeric type that converts without loss of kind (complex files need a complex T).
#pragma once

#include <string>

#include <trn/sparse/formats.hpp>

namespace trn::sparse {

enum class Compression : std::uint8_t { Stored, Deflated };

template <Scalar T, Index I = std::int32_t> [[nodiscard]] Csr<T, I> read_npz(const std::string& path);
template <Scalar T, Index I>
void write_npz(const std::string& path, const Csr<T, I>& a, Compression compression = Compression::Deflated);

}  // namespace trn::sparse
