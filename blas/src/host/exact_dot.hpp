// sum x_i y_i, or sum conj(x_i) y_i, exactly, each part rounded once to T.
#pragma once

#include <cstdint>

namespace trn::blas::host {

template <class T> T exact_dot(const T* x, std::int64_t incx, const T* y, std::int64_t incy, std::int64_t n, bool conj);

}  // namespace trn::blas::host
