// The transforms of trnsci.fft: fft ifft rfft irfft hfft ihfft and their forms for several axes.
//
// On the host the plan reads NumPy's array where it lies and writes into the result, or into the caller's `out`. A real
// array is transformed as such, and the other half of its spectrum is the mirror image: half the work. On a device the
// library's functions in the NumPy manner do the same with arrays there.
#include <cmath>
#include <numeric>

#include "context.hpp"
#include "geometry.hpp"

namespace trn::python {
namespace {

using fft::Kind;

// out[..., n - k] = conj(out[..., k]) for k = 1 .. (n - 1)/2 of the last axis, all other transformed axes reversed too.
template <class T> void mirror(const Geometry& g, const Operand& out) {
  const std::size_t last = g.axes.back(), rank = out.shape.size();
  const std::int64_t n = g.lengths.back(), step = out.strides[last];
  std::vector<bool> reversed(rank, false);
  for (const std::size_t a : g.axes) reversed[a] = a != last;
  Shape index(rank, 0);
  const std::int64_t lines = element_count(out.shape) / n;
  auto* const base = out.pointer<std::complex<T>>();
  for (std::int64_t line = 0; line < lines; ++line) {
    std::int64_t to = 0, from = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      to += index[i] * out.strides[i];
      from += (reversed[i] && index[i] > 0 ? out.shape[i] - index[i] : index[i]) * out.strides[i];
    }
    for (std::int64_t k = 1; 2 * k < n; ++k) base[to + (n - k) * step] = std::conj(base[from + k * step]);
    for (std::size_t i = rank; i-- > 0;) {
      if (i == last) continue;
      if (++index[i] < out.shape[i]) break;
      index[i] = 0;
    }
  }
}

// x with zeros behind its ends, or nothing where it is as long as the transform.
std::vector<char> padded(const Geometry& g, Operand& x) {
  bool pad = false;
  Shape common = x.shape;
  for (const std::size_t a : g.axes) {
    pad = pad || x.shape[a] < g.input[a];
    common[a] = std::min(x.shape[a], g.input[a]);
  }
  if (!pad) return {};
  const std::int64_t bytes = size_bytes(x.dtype);
  std::vector<char> memory(static_cast<std::size_t>(byte_count(g.input, bytes)) + 64);
  void* aligned = memory.data();
  std::size_t room = memory.size();
  std::align(64, memory.size() - 64, aligned, room);
  const Strides strides = row_major_strides(g.input);
  detail::copy_elements({&x.executor, x.data, &common, &x.strides}, {&x.executor, aligned, &common, &strides}, bytes);
  x.data = aligned;
  x.strides = strides;
  x.shape = g.input;
  return memory;
}

template <class T>
Accuracy run_plan(const Call& call, const fft::Description& d, const Operand& in, const Operand& out) {
  using C = std::complex<T>;
  const fft::Plan<T> plan = plan_cache().get<T>(call.executor(), d);
  if (element_count(out.shape) == 0) return plan.accuracy();
  if (d.kind == Kind::ComplexToComplex) {
    plan.execute(in.pointer<const C>(), out.pointer<C>());
  } else if (d.kind == Kind::RealToComplex) {
    plan.execute(in.pointer<const T>(), out.pointer<C>());
  } else {
    plan.execute(in.pointer<const C>(), out.pointer<T>());
  }
  return plan.accuracy();
}

DType result_type(Kind kind, DType in) {
  const bool single = real_of(in) == DType::Float32;
  if (kind == Kind::ComplexToReal) return single ? DType::Float32 : DType::Float64;
  return single ? DType::Complex64 : DType::Complex128;
}

struct Request {
  const Transform& transform;
  const Geometry& geometry;
  fft::Norm norm;
  Precision precision;
};

Accuracy on_host(const Call& call, const Request& r, Operand& x, const Operand& y) {
  const bool mirrored = r.transform.kind == Kind::ComplexToComplex && !is_complex(x.dtype);
  const Kind kind = mirrored ? Kind::RealToComplex : r.transform.kind;
  Accuracy accuracy;
  call.run([&] {
    const std::vector<char> memory = padded(r.geometry, x);
    const fft::Description d = describe(r.transform, kind, r.geometry, x.strides, y.strides, r.norm, r.precision);
    with_real(x.dtype, [&](auto t) {
      using T = decltype(t);
      accuracy = run_plan<T>(call, d, x, y);
      if (!mirrored) return;
      if (element_count(y.shape) > 0) mirror<T>(r.geometry, y);
      accuracy.bound *= std::sqrt(2.0);  // the error of the half counts twice, its norm at least once
    });
  });
  return accuracy;
}

Operand on_device(const Call& call, const Request& r, const Operand& x, Accuracy* accuracy) {
  fft::detail::TransformRequest request{r.transform.name, r.transform.direction, {}};
  request.options.s = r.geometry.lengths;
  request.options.axes.emplace(r.geometry.axes.begin(), r.geometry.axes.end());
  request.options.norm = r.norm;
  request.options.precision = r.precision;
  request.options.cache = &plan_cache();
  Operand y;
  with_real(x.dtype, [&](auto t) {
    using T = decltype(t);
    using C = std::complex<T>;
    call.run([&] {
      const Executor& e = call.executor();
      if (r.transform.kind == Kind::ComplexToReal) {
        y = call.adopt(fft::detail::from_half<T>(e, x.view<const C>(), request));
      } else if (r.transform.kind == Kind::RealToComplex) {
        y = call.adopt(fft::detail::to_half<T>(e, x.view<const T>(), request));
      } else if (is_complex(x.dtype)) {
        y = call.adopt(fft::detail::full_transform<T>(e, x.view<const C>(), request));
      } else {
        y = call.adopt(fft::detail::full_transform<T>(e, x.view<const T>(), request));
      }
      if (accuracy) {
        const Strides in = row_major_strides(r.geometry.input);
        *accuracy =
            plan_cache()
                .get<T>(e, describe(r.transform, r.transform.kind, r.geometry, in, y.strides, r.norm, r.precision))
                .accuracy();
      }
    });
  });
  return y;
}

nb::object transform(int which, nb::handle x, nb::handle s, nb::handle axes, nb::handle norm, nb::handle precision,
                     nb::handle executor, nb::handle out, bool return_accuracy) {
  const Transform& t = transform_number(which);
  Call call(t.name, executor, {x});
  const Types types = t.kind == Kind::ComplexToComplex ? kFloats : t.kind == Kind::RealToComplex ? kReals : kComplexes;
  Operand in = call.in(x, "x", types);
  const Geometry g = geometry(t, in.shape, s, axes);
  const Request r{t, g, norm_of(t.name, norm), precision_of(precision)};
  const DType type = result_type(t.kind, in.dtype);
  Accuracy accuracy;
  Operand y;
  if (call.on_host()) {
    y = out.is_none() ? call.out(type, g.output) : call.out_given(out, type, g.output, {&in});
    accuracy = on_host(call, r, in, y);
  } else {
    require(out.is_none(), "{}: out= is for NumPy arrays on the host; this call runs on '{}'", t.name,
            call.executor().name());
    y = on_device(call, r, in, return_accuracy ? &accuracy : nullptr);
  }
  const nb::object result = call.result(y);
  if (!return_accuracy) return result;
  return nb::make_tuple(result, accuracy);
}

}  // namespace

void bind_fft(nb::module_& m) {
  m.def("transform", &transform, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("plan_cache_info", [] {
    return nb::make_tuple(plan_cache().hits(), plan_cache().misses(), plan_cache().limit(), plan_cache().size());
  });
  m.def("plan_cache_clear", [] { plan_cache().clear(); });
}

}  // namespace trn::python
