// Random numbers: one generator object, and `draw`, which fills an array with any of the distributions.
//
// A long draw is made in pieces, and Python's signals are looked at in between: Ctrl-C leaves the generator where it
// was. The pieces have the same values as the whole.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>

#include <trn/rand/bernoulli.hpp>
#include <trn/rand/binomial.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/permutation.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/rand/von_mises.hpp>

#include "call.hpp"
#include "context.hpp"
#include "rand.hpp"

namespace trn::python {

rand::Algorithm algorithm_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(rand::Algorithm::ScrambledHalton); ++i) {
    if (name == rand::name(static_cast<rand::Algorithm>(i))) return static_cast<rand::Algorithm>(i);
  }
  fail<InvalidArgument>(
      "rand: '{}' is not an algorithm; there are philox4x32-10, threefry4x32-20, xorwow, mrg32k3a, "
      "mt19937 and the quasi-random ones",
      name);
}

namespace {

using P = std::vector<double>;
using Fill = std::function<void(const Executor&, rand::Generator&, const Operand&, const P&)>;

// What a distribution is called and how it fills an array of each type it has.
struct Distribution {
  const char* name;
  std::size_t parameters;
  Types types;
  Fill fill;
};

template <class Options, class F> Fill reals(F&& call) {
  return [call](const Executor& e, rand::Generator& g, const Operand& o, const P& p) {
    with_real(o.dtype, [&](auto t) { call(e, g, o.view<decltype(t)>(), p); });
  };
}

#define TRN_REALS(...)                                                                \
  reals<int>([](const Executor& e, rand::Generator& g, const auto& out, const P& p) { \
    (void)p;                                                                          \
    __VA_ARGS__;                                                                      \
  })

const std::vector<Distribution>& distributions() {
  constexpr Types kU32 = only(DType::UInt32), kDouble = only(DType::Float64), kFloat = only(DType::Float32);
  static const auto floor = [](double x) { return static_cast<std::int64_t>(x); };
  using rand::Interval;
  static const std::vector<Distribution> all{
      {"raw32", 0, kU32, [](auto& e, auto& g, auto& o, auto&) { rand::raw32(e, g, o.template view<std::uint32_t>()); }},
      {"raw64", 0, only(DType::UInt64),
       [](auto& e, auto& g, auto& o, auto&) { rand::raw64(e, g, o.template view<std::uint64_t>()); }},
      {"random", 0, kReals, TRN_REALS(rand::uniform(e, g, out, Interval::HalfOpen))},
      {"uniform_open_closed", 0, kReals, TRN_REALS(rand::uniform(e, g, out, Interval::OpenClosed))},
      {"normal", 3, kReals, TRN_REALS(rand::normal(e, g, out, {p[0], p[1], static_cast<rand::NormalMethod>(p[2])}))},
      {"lognormal", 2, kReals, TRN_REALS(rand::log_normal(e, g, out, {p[0], p[1]}))},
      {"exponential", 1, kReals, TRN_REALS(rand::exponential(e, g, out, {p[0]}))},
      {"laplace", 2, kReals, TRN_REALS(rand::laplace(e, g, out, {p[0], p[1]}))},
      {"weibull", 2, kReals, TRN_REALS(rand::weibull(e, g, out, {p[0], p[1]}))},
      {"cauchy", 2, kReals, TRN_REALS(rand::cauchy(e, g, out, {p[0], p[1]}))},
      {"gamma", 2, kReals, TRN_REALS(rand::gamma(e, g, out, {p[0], p[1]}))},
      {"chisquare", 1, kReals, TRN_REALS(rand::chi_squared(e, g, out, {p[0]}))},
      {"beta", 2, kReals, TRN_REALS(rand::beta(e, g, out, {p[0], p[1]}))},
      {"standard_t", 1, kReals, TRN_REALS(rand::student_t(e, g, out, {p[0]}))},
      {"f", 2, kReals, TRN_REALS(rand::fisher_f(e, g, out, {p[0], p[1]}))},
      {"vonmises", 2, kReals, TRN_REALS(rand::von_mises(e, g, out, {p[0], p[1]}))},
      {"truncated_normal", 4, kReals, TRN_REALS(rand::truncated_normal(e, g, out, {p[0], p[1], p[2], p[3]}))},
      {"latin_hypercube", 0, kReals, TRN_REALS(rand::latin_hypercube(e, g, out))},
      {"permutation", 0, only(DType::Int32),
       [](auto& e, auto& g, auto& o, auto&) { rand::permutation(e, g, o.template view<std::int32_t>()); }},
      {"poisson", 1, kU32 | kDouble,
       [](auto& e, auto& g, auto& o, auto& p) {
         if (o.dtype == DType::Float64) return rand::poisson(e, g, o.template view<double>(), {p[0]});
         rand::poisson(e, g, o.template view<std::uint32_t>(), {p[0]});
       }},
      {"geometric", 1, kU32 | kDouble,
       [](auto& e, auto& g, auto& o, auto& p) {
         if (o.dtype == DType::Float64) return rand::geometric(e, g, o.template view<double>(), {p[0]});
         rand::geometric(e, g, o.template view<std::uint32_t>(), {p[0]});
       }},
      {"binomial", 2, kU32,
       [](auto& e, auto& g, auto& o, auto& p) {
         rand::binomial(e, g, o.template view<std::uint32_t>(), {floor(p[0]), p[1]});
       }},
      {"hypergeometric", 3, kU32,
       [](auto& e, auto& g, auto& o, auto& p) {
         rand::hypergeometric(e, g, o.template view<std::uint32_t>(), {floor(p[0]), floor(p[1]), floor(p[2])});
       }},
      {"bernoulli", 1, kU32 | kFloat,
       [](auto& e, auto& g, auto& o, auto& p) {
         if (o.dtype == DType::Float32) return rand::bernoulli(e, g, o.template view<float>(), {p[0]});
         rand::bernoulli(e, g, o.template view<std::uint32_t>(), {p[0]});
       }},
      {"integers", 2, kU32 | only(DType::Int32),
       [](auto& e, auto& g, auto& o, auto& p) {
         if (o.dtype == DType::Int32) {
           return rand::integers(e, g, o.template view<std::int32_t>(), floor(p[0]), floor(p[1]));
         }
         rand::integers(e, g, o.template view<std::uint32_t>(), floor(p[0]), floor(p[1]));
       }},
  };
  return all;
}
#undef TRN_REALS

// Row-major pieces of an operand; the whole where it is not row-major.
constexpr std::int64_t kPiece = std::int64_t{1} << 22;

void fill(const Distribution& d, RandomGenerator& g, const Executor& executor, const Operand& o, const P& p) {
  std::unique_lock lock(*g.mutex, std::try_to_lock);
  if (!lock) {  // never wait with Python's lock in hand: who holds the other one needs it to finish
    const nb::gil_scoped_release released;
    lock.lock();
  }
  rand::Generator work = g.generator;
  const std::int64_t size = element_count(o.shape);
  const bool whole = size <= kPiece || o.strides != row_major_strides(o.shape) ||
                     rand::is_quasi(work.state().algorithm) || std::string_view(d.name) == "latin_hypercube" ||
                     std::string_view(d.name) == "permutation";
  const auto part = [&](const Operand& piece) {
    const nb::gil_scoped_release released;
    d.fill(executor, work, piece, p);
  };
  if (whole) part(o);
  for (std::int64_t begin = 0; !whole && begin < size; begin += kPiece) {
    Operand piece = o;
    piece.shape = {std::min(kPiece, size - begin)};
    piece.strides = {1};
    piece.data = o.pointer<char>() + begin * size_bytes(o.dtype);
    part(piece);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  g.generator = work;
}

DType type_of(nb::handle letter) {
  switch (nb::cast<std::string>(letter)[0]) {
    case 'f':
      return DType::Float32;
    case 'd':
      return DType::Float64;
    case 'i':
      return DType::Int32;
    case 'I':
      return DType::UInt32;
    default:
      return DType::UInt64;
  }
}

const Distribution& distribution(const std::string& name, const P& parameters) {
  const auto& all = distributions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Distribution& d) { return name == d.name; });
  ensure(found != all.end() && parameters.size() == found->parameters, "rand: no distribution {} of {} parameters",
         name, parameters.size());
  return *found;
}

nb::object draw(RandomGenerator& g, const std::string& name, nb::handle letter, const Shape& shape, const P& parameters,
                nb::handle executor) {
  const Distribution& d = distribution(name, parameters);
  const Call call(d.name, executor, {});
  const Operand o = call.out(type_of(letter), shape);
  require((d.types & only(o.dtype)) != 0, "rand.{}: there are no numbers of type {}", d.name, trn::name(o.dtype));
  fill(d, g, call.executor(), o, parameters);
  return call.result(o);
}

// Into an array of NumPy's (on the host) or a device array.
void draw_into(RandomGenerator& g, const std::string& name, nb::handle array, const P& parameters) {
  const Distribution& d = distribution(name, parameters);
  if (is_array(array)) {
    Call call(d.name, nb::cast(Executor::host()), {array});
    require(fields(array).writable, "rand.{}: the array is read-only", d.name);
    const Operand o = call.in(array, "out", d.types);
    require(o.python.is(array), "rand.{}: the array must be aligned and of a type that the distribution has", d.name);
    fill(d, g, call.executor(), o, parameters);
    return;
  }
  const Operand& o = nb::cast<const DeviceArray&>(array).operand;
  require((d.types & only(o.dtype)) != 0, "rand.{}: there are no numbers of type {}", d.name, trn::name(o.dtype));
  fill(d, g, o.executor, o, parameters);
}

nb::tuple state_of(const RandomGenerator& g) {
  const rand::State& s = g.generator.state();
  return nb::make_tuple(rand::name(s.algorithm), s.seed, s.stream, s.position, s.ordering == rand::Ordering::Legacy,
                        s.dimensions, s.origin);
}

rand::State state_from(const std::string& algorithm, std::uint64_t seed, std::uint64_t stream, std::uint64_t position,
                       bool legacy, std::uint32_t dimensions, std::uint64_t origin) {
  return {algorithm_named(algorithm),
          seed,
          stream,
          position,
          legacy ? rand::Ordering::Legacy : rand::Ordering::Default,
          dimensions,
          origin};
}

}  // namespace

void bind_rand(nb::module_& m) {
  nb::class_<RandomGenerator>(m, "RandomGenerator")
      .def("__init__",
           [](RandomGenerator* self, const std::string& algorithm, std::uint64_t seed, std::uint64_t stream,
              std::uint64_t position, bool legacy, std::uint32_t dimensions, std::uint64_t origin) {
             new (self) RandomGenerator{
                 rand::Generator(state_from(algorithm, seed, stream, position, legacy, dimensions, origin))};
           })
      .def("state", &state_of)
      .def("skip", [](RandomGenerator& g, std::uint64_t n) { g.generator.skip(n); });
  m.def("draw", &draw, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("draw_into", &draw_into);
}

}  // namespace trn::python
