// Level 1 on the host, the operations that map vectors to vectors: OpenBLAS, in pieces of at most 2^30 elements. Ours
// are the rotation with a complex sine, which CBLAS lacks, and scaling by 0, which OpenBLAS turns into a fill although
// 0 * NaN is NaN in the reference.
#include <algorithm>
#include <array>

#include "../kernels.hpp"
#include "cblas.hpp"
#include "vectors.hpp"

namespace trn::blas::host {

namespace {

// Adding or exchanging elements pairwise does not depend on the order: two negative strides are two positive ones.
template <class Args> Args forward(Args v, std::int64_t bytes) {
  if (v.incx < 0 && v.incy < 0) {
    using X = decltype(v.x);
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<X>>, const std::byte, std::byte>;
    v.x = static_cast<Byte*>(v.x) + (v.n - 1) * v.incx * bytes;
    v.y = static_cast<std::byte*>(v.y) + (v.n - 1) * v.incy * bytes;
    v.incx = -v.incx, v.incy = -v.incy;
  }
  return v;
}

}  // namespace

void axpy(const Executor&, const AxpyArgs& args) {
  with_type(args.dtype, [&]<class T>(T) {
    const AxpyArgs v = forward(args, sizeof(T));
    if (v.x == v.y) {  // OpenBLAS's complex kernel writes the real part of y before it has read x for the imaginary one
      std::array<T, 512> x;
      for (std::int64_t i = 0; i < v.n; i += std::ssize(x)) {
        T* at = static_cast<T*>(v.y) + i * v.incy;
        const int n = static_cast<int>(std::min<std::int64_t>(std::ssize(x), v.n - i));
        for (int k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = at[k * v.incy];
        InOut<T> y(at, n, v.incy);
        cb::axpy(n, factor<T>(v.alpha), x.data(), 1, y.data(), y.increment());
        y.store();
      }
      return;
    }
    in_pieces(v.n, [&](std::int64_t i, int n) {
      const Input<T> x(static_cast<const T*>(v.x) + i * v.incx, n, v.incx);
      InOut<T> y(static_cast<T*>(v.y) + i * v.incy, n, v.incy);
      cb::axpy(n, factor<T>(v.alpha), x.data(), x.increment(), y.data(), y.increment());
      y.store();
    });
  });
}

void copy(const Executor&, const AxpyArgs& args) {
  with_type(args.dtype, [&]<class T>(T) {
    const AxpyArgs v = forward(args, sizeof(T));
    const T* x = static_cast<const T*>(v.x);
    T* y = static_cast<T*>(v.y);
    if (!fits(v.n, v.incx) || !fits(v.n, v.incy)) {
      for (std::int64_t i = 0; i < v.n; ++i) y[i * v.incy] = x[i * v.incx];
      return;
    }
    in_pieces(v.n, [&](std::int64_t i, int n) {
      cb::copy(n, lowest(x + i * v.incx, n, v.incx), static_cast<int>(v.incx), lowest(y + i * v.incy, n, v.incy),
               static_cast<int>(v.incy));
    });
  });
}

void swap(const Executor&, const SwapArgs& args) {
  with_type(args.dtype, [&]<class T>(T) {
    const SwapArgs v = forward(args, sizeof(T));
    in_pieces(v.n, [&](std::int64_t i, int n) {
      InOut<T> x(static_cast<T*>(v.x) + i * v.incx, n, v.incx), y(static_cast<T*>(v.y) + i * v.incy, n, v.incy);
      cb::swap(n, x.data(), x.increment(), y.data(), y.increment());
      x.store(), y.store();
    });
  });
}

void scal(const Executor&, const ScalArgs& v) {
  with_type(v.dtype, [&]<class T>(T) {
    T* x = lowest(static_cast<T*>(v.x), v.n, v.incx);
    const std::int64_t stride = v.incx < 0 ? -v.incx : v.incx;
    if (v.alpha == std::complex<double>(0) || stride > kIntMax) {
      const T alpha = factor<T>(v.alpha);
      for (std::int64_t i = 0; i < v.n; ++i) {
        T& z = x[i * stride];
        if constexpr (ComplexScalar<T>) {
          if (v.real_alpha) {
            z = T(alpha.real() * z.real(), alpha.real() * z.imag());
            continue;
          }
          // Spelled out: the library's product repairs infinities that the reference turns into NaN.
          z = T(alpha.real() * z.real() - alpha.imag() * z.imag(), alpha.real() * z.imag() + alpha.imag() * z.real());
        } else {
          z *= alpha;
        }
      }
      return;
    }
    in_pieces(v.n, [&](std::int64_t i, int n) {
      T* piece = x + i * stride;
      if constexpr (ComplexScalar<T>) {
        if (v.real_alpha)
          return cb::scal_real(n, static_cast<Real<T>>(v.alpha.real()), piece, static_cast<int>(stride));
      }
      cb::scal(n, factor<T>(v.alpha), piece, static_cast<int>(stride));
    });
  });
}

void rot(const Executor&, const RotArgs& args) {
  with_type(args.dtype, [&]<class T>(T) {
    const RotArgs v = forward(args, sizeof(T));
    T* x = static_cast<T*>(v.x);
    T* y = static_cast<T*>(v.y);
    const auto c = static_cast<Real<T>>(v.c);
    if constexpr (ComplexScalar<T>) {
      if (!v.real_s) {
        const T s = factor<T>(v.s);
        for (std::int64_t i = 0; i < v.n; ++i) {
          const T a = x[i * v.incx], b = y[i * v.incy];
          x[i * v.incx] = c * a + s * b;
          y[i * v.incy] = c * b - std::conj(s) * a;
        }
        return;
      }
    }
    in_pieces(v.n, [&](std::int64_t i, int n) {
      InOut<T> a(x + i * v.incx, n, v.incx), b(y + i * v.incy, n, v.incy);
      cb::rot(n, a.data(), a.increment(), b.data(), b.increment(), c, static_cast<Real<T>>(v.s.real()));
      a.store(), b.store();
    });
  });
}

void rotm(const Executor&, const RotmArgs& args) {
  with_type(args.dtype, [&]<class T>(T) {
    if constexpr (RealScalar<T>) {
      const RotmArgs v = forward(args, sizeof(T));
      const T h[5] = {static_cast<T>(v.flag), static_cast<T>(v.h11), static_cast<T>(v.h21), static_cast<T>(v.h12),
                      static_cast<T>(v.h22)};
      in_pieces(v.n, [&](std::int64_t i, int n) {
        InOut<T> x(static_cast<T*>(v.x) + i * v.incx, n, v.incx), y(static_cast<T*>(v.y) + i * v.incy, n, v.incy);
        cb::rotm(n, x.data(), x.increment(), y.data(), y.increment(), h);
        x.store(), y.store();
      });
    }
  });
}

}  // namespace trn::blas::host
