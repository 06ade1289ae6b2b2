// Problems as trnfft's plans. Compiled once for each precision.
#include "transform.hpp"

#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <trn/core/error.hpp>
#include <trn/core/layout.hpp>
#include <trn/fft/cosine.hpp>

#include "fftw.hpp"
#include "staging.hpp"

namespace trn::dropin {

namespace {

// Plans and functions of trnfft take as many threads as OpenMP has at the time.
class Threads {
 public:
  explicit Threads(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

fft::Kind kind_of(Form form) {
  return form == Form::C2C   ? fft::Kind::ComplexToComplex
         : form == Form::R2C ? fft::Kind::RealToComplex
                             : fft::Kind::ComplexToReal;
}
fft::Direction direction_of(const Problem& p) { return p.forward ? fft::Direction::Forward : fft::Direction::Inverse; }

// On the caller's memory.
fft::Description direct(const Problem& p) {
  fft::Description d;
  d.kind = kind_of(p.form), d.direction = direction_of(p);
  for (const Axis& a : p.axes) d.axes.push_back({a.n, a.is, a.os});
  for (const Axis& b : p.batch) d.batch.push_back({b.n, b.is, b.os});
  if (p.split && p.complex_input()) d.input_format = fft::Format::Planar;
  if (p.split && p.complex_output()) d.output_format = fft::Format::Planar;
  return d;
}
// On dense memory: one batch of row-major transforms.
fft::Description dense(const Problem& p) {
  std::vector<std::int64_t> lengths;
  for (const Axis& a : p.axes) lengths.push_back(a.n);
  std::int64_t batch = 1;
  for (const Axis& b : p.batch) batch *= b.n;
  return fft::dense(kind_of(p.form), direction_of(p), lengths, {.batch = batch});
}

// Whether both sides of a transform in place lie in the same bytes, as trnfft wants them.
bool same_bytes(const Problem& p) {
  if (p.form == Form::C2C) {
    for (const Axis& a : p.axes)
      if (a.is != a.os && a.n > 1) return false;
    for (const Axis& b : p.batch)
      if (b.is != b.os && b.n > 1) return false;
    return true;
  }
  if (p.split) return false;
  const bool r2c = p.form == Form::R2C;
  const auto doubled = [&](const Axis& a) { return a.n <= 1 || (r2c ? a.is == 2 * a.os : a.os == 2 * a.is); };
  for (std::size_t i = 0; i + 1 < p.axes.size(); ++i)
    if (!doubled(p.axes[i])) return false;
  for (const Axis& b : p.batch)
    if (!doubled(b)) return false;
  return p.axes.back().is == 1 && p.axes.back().os == 1;
}

// Lines along dimension d of a dense array, one side with m points there.
fft::Description lines(const std::vector<Extent>& e, std::size_t d, fft::Kind kind, std::int64_t m) {
  std::vector<std::int64_t> in(e.size(), 1), out(e.size(), 1);
  const bool forward = kind == fft::Kind::RealToComplex;
  for (std::size_t i = e.size(); i-- > 1;) {
    const std::int64_t n = e[i].n, other = i == d ? m : n;
    in[i - 1] = in[i] * (forward ? n : other), out[i - 1] = out[i] * (forward ? other : n);
  }
  fft::Description found;
  found.kind = kind, found.direction = forward ? fft::Direction::Forward : fft::Direction::Inverse;
  for (std::size_t i = 0; i < e.size(); ++i) {
    if (i == d) {
      found.axes.push_back({e[i].n, in[i], out[i]});
    } else {
      found.batch.push_back({e[i].n, in[i], out[i]});
    }
  }
  return found;
}
bool by_lines(RealKind kind) { return kind == RealKind::R2HC || kind == RealKind::HC2R || kind == RealKind::DHT; }

// The points of `outer` blocks of n (or m) times `inner`: halfcomplex order is r0 r1 ... r(n/2) i((n+1)/2 - 1) ... i1.
template <class T>
void to_halfcomplex(const std::complex<T>* y, T* x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  const std::int64_t m = n / 2 + 1;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < m; ++k)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::complex<T> v = y[(o * m + k) * inner + i];
        x[(o * n + k) * inner + i] = v.real();
        if (k > 0 && 2 * k < n) x[(o * n + n - k) * inner + i] = v.imag();
      }
}
template <class T>
void from_halfcomplex(const T* x, std::complex<T>* y, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  const std::int64_t m = n / 2 + 1;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < m; ++k)
      for (std::int64_t i = 0; i < inner; ++i) {
        const bool has_imaginary = k > 0 && 2 * k < n;
        y[(o * m + k) * inner + i] = {x[(o * n + k) * inner + i],
                                      has_imaginary ? x[(o * n + n - k) * inner + i] : T{0}};
      }
}
// sum x (cos + sin) is the real less the imaginary part of sum x exp(-i ...).
template <class T>
void to_hartley(const std::complex<T>* y, T* x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  const std::int64_t m = n / 2 + 1;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < m; ++k)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::complex<T> v = y[(o * m + k) * inner + i];
        x[(o * n + k) * inner + i] = v.real() - v.imag();
        if (k > 0 && 2 * k < n) x[(o * n + n - k) * inner + i] = v.real() + v.imag();
      }
}

// FFTW's REDFTab and RODFTab are SciPy's types without normalisation.
template <class T>
Array<T> wave(const Executor& e, const Array<T>& x, RealKind kind, std::size_t d, fft::PlanCache& cache) {
  using fft::CosineType;
  const int offset = (static_cast<int>(kind) - static_cast<int>(RealKind::REDFT00)) % 4;
  static constexpr CosineType kTypes[] = {CosineType::I, CosineType::III, CosineType::II, CosineType::IV};
  const fft::CosineOptions o{.type = kTypes[offset], .axis = static_cast<std::int64_t>(d), .cache = &cache};
  return kind < RealKind::RODFT00 ? fft::dct(e, x, o) : fft::dst(e, x, o);
}

}  // namespace

// A target that no mode can meet ends the program: a wrong precision must not look like a result. Other refusals of a
// plan with a target are those of one without.
template <class T> void emplace(std::optional<fft::Plan<T>>& plan, const Executor& executor, fft::Description wanted) {
  try {
    plan.emplace(executor, wanted);
  } catch (const InvalidArgument& e) {
    if (!wanted.precision.has_target()) throw;
    wanted.precision = {};
    plan.emplace(environment().host, wanted);
    std::fprintf(stderr, "trnfft: %s\n", e.what());
    std::exit(2);
  }
}

template <class T> Transform<T>::Transform(Problem problem, int threads)
    : problem_(std::move(problem)), threads_(threads), lines_(problem_.axes.size()) {
  const Environment& env = environment();
  const Threads scope(threads_);
  // trnfft says so of the layouts that it sees. Others it does not see: copies, what is staged, and real-to-real kinds.
  std::vector<layout::Dim> places;
  for (const Extent& e : side_extents(problem_, false)) places.push_back({e.n, e.stride});
  require(!layout::repeats(places), "output elements share places");
  const auto extents = side_extents(problem_, true);
  if (problem_.axes.empty() || count(extents) == 0) return;
  if (problem_.form == Form::R2R) {
    note_host_call(env, "trnfft");
    for (std::size_t i = 0; i < problem_.axes.size(); ++i) {
      const RealKind kind = problem_.kinds[i];
      const bool back = kind == RealKind::HC2R;
      const std::size_t d = problem_.batch.size() + i;
      if (by_lines(kind))
        lines_[i].emplace(env.host, lines(extents, d, back ? fft::Kind::ComplexToReal : fft::Kind::RealToComplex,
                                          extents[d].n / 2 + 1));
    }
    return;
  }
  if (!env.on_host) {
    auto wanted = dense(problem_);
    const bool exact = std::is_same_v<T, double> && !env.products.has_target();
    wanted.precision = exact ? Precision(Mode::Exact) : env.products;
    try {
      emplace(plan_, env.executor, wanted);
      on_host_ = false, staged_ = true;
      return;
    } catch (const NotImplemented&) {
      note_host_call(env, "trnfft");
    }
  }
  staged_ = problem_.in_place && !same_bytes(problem_);
  fft::Description wanted = staged_ ? dense(problem_) : direct(problem_);
  if (env.products.has_target()) wanted.precision = env.products;
  emplace(plan_, env.host, wanted);
}

template <class T> void Transform<T>::run(const Sides<T>& s) const {
  const Problem& p = problem_;
  if (p.form == Form::R2R || !plan_) return run_real(s);
  if (staged_) return run_dense(s);
  const auto pairs = [](T* address) { return reinterpret_cast<C*>(address); };
  switch (p.form) {
    case Form::C2C:
      if (p.split) return plan_->execute({s.re_in, s.im_in}, {s.re_out, s.im_out});
      return plan_->execute(pairs(s.re_in), pairs(s.re_out));
    case Form::R2C:
      if (p.split) return plan_->execute(s.re_in, fft::PlanarPointer<T>{s.re_out, s.im_out});
      return plan_->execute(s.re_in, pairs(s.re_out));
    case Form::C2R:
      if (p.split) return plan_->execute(fft::PlanarPointer<const T>{s.re_in, s.im_in}, s.re_out);
      return plan_->execute(pairs(s.re_in), s.re_out);
    case Form::R2R:
      break;
  }
}

template <class T> void Transform<T>::run_dense(const Sides<T>& s) const {
  const Executor& e = plan_->executor();
  const auto from = side_extents(problem_, true), to = side_extents(problem_, false);
  const bool complex_in = problem_.complex_input(), complex_out = problem_.complex_output();
  const std::vector<T> in = gather<T>(from, s.re_in, s.im_in, complex_in);
  std::vector<T> out(static_cast<std::size_t>(count(to)) * (complex_out ? 2 : 1));
  const auto run = [&]<class In, class Out>(const In*, Out*) {
    const Shape in_shape{count(from)}, out_shape{count(to)};
    const auto x =
        Array<In>::from_host(e, in_shape, {reinterpret_cast<const In*>(in.data()), in.size() * sizeof(T) / sizeof(In)});
    const Array<Out> y(e, out_shape);
    plan_->execute(View<const In>(x.view()), y.view());
    copy(View<const Out>(y.view()), View<Out>(Executor::host(), reinterpret_cast<Out*>(out.data()), out_shape));
  };
  if (complex_in && complex_out) {
    run(static_cast<C*>(nullptr), static_cast<C*>(nullptr));
  } else if (complex_in) {
    run(static_cast<C*>(nullptr), static_cast<T*>(nullptr));
  } else {
    run(static_cast<T*>(nullptr), static_cast<C*>(nullptr));
  }
  scatter<T>(to, out.data(), s.re_out, s.im_out, complex_out);
}

// Real-to-real transforms axis by axis, and those without axes, which are copies. (Of a real transform without axes the
// imaginary part is 0, or not looked at.)
template <class T> void Transform<T>::run_real(const Sides<T>& s) const {
  const Problem& p = problem_;
  const auto from = side_extents(p, true), to = side_extents(p, false);
  if (p.form != Form::R2R) {
    std::vector<T> x = gather<T>(from, s.re_in, s.im_in, p.complex_input());
    if (p.form == Form::R2C || p.form == Form::C2R) {
      std::vector<T> y;
      for (std::size_t i = 0; i < x.size(); i += p.form == Form::C2R ? 2 : 1) {
        y.push_back(x[i]);
        if (p.form == Form::R2C) y.push_back(0);
      }
      x = std::move(y);
    }
    return scatter<T>(to, x.data(), s.re_out, s.im_out, p.complex_output());
  }
  if (count(from) == 0) return;
  const Executor e = Executor::host();
  const Threads scope(threads_);
  Shape shape;
  for (const Extent& x : from) shape.push_back(x.n);
  if (shape.empty()) shape.push_back(1);
  Array<T> now = Array<T>::from_host(e, shape, gather<T>(from, s.re_in, nullptr, false));
  for (std::size_t a = 0; a < p.axes.size(); ++a) {
    const std::size_t d = p.batch.size() + a;
    const RealKind kind = p.kinds[a];
    if (!by_lines(kind)) {
      now = wave(e, now, kind, d, cosines_);
      continue;
    }
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) (i < d ? outer : inner) *= i == d ? 1 : shape[i];
    Shape half = shape;
    half[d] = shape[d] / 2 + 1;
    const Array<C> y(e, half);
    Array<T> next(e, shape);
    if (kind == RealKind::HC2R) {
      from_halfcomplex<T>(now.data(), y.data(), outer, shape[d], inner);
      lines_[a]->execute(y.data(), next.data());
    } else {
      lines_[a]->execute(now.data(), y.data());
      (kind == RealKind::R2HC ? to_halfcomplex<T> : to_hartley<T>)(y.data(), next.data(), outer, shape[d], inner);
    }
    now = std::move(next);
  }
  scatter<T>(to, now.data(), s.re_out, nullptr, false);
}

template <class T> double Transform<T>::work() const {
  double points = 1, logarithm = 0;
  for (const Axis& a : problem_.axes) points *= static_cast<double>(a.n), logarithm += std::log2(a.n);
  for (const Axis& b : problem_.batch) points *= static_cast<double>(b.n);
  return points * logarithm * (problem_.form == Form::C2C ? 5 : 2.5);
}

template class Transform<R>;

}  // namespace trn::dropin
