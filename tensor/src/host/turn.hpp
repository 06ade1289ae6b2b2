// A matrix turned: the heart of a permutation.
#pragma once

#include <cstdint>

namespace trn::tensor::host {

// d[j + i d_stride] = a[i + j a_stride] for i < rows, j < columns; elements of 2, 4, 8 or 16 bytes.
// `stream`: write past the caches where addresses allow.
void turn_matrix(std::int64_t element_bytes, const void* a, std::int64_t a_stride, void* d, std::int64_t d_stride,
                 std::int64_t rows, std::int64_t columns, bool stream);

}  // namespace trn::tensor::host
