// Draws into distributed operands: dist::Array and dist::Matrix.
//
// Element i of the global array, in row-major order of its indices, is value i of the draw that fills the whole array
// on one rank: the same bits for every distribution and number of ranks, on executors of one kind. Nothing is
// communicated but the check that all ranks ask for the same. The generator, equal on all ranks, moves by the whole
// array.
//
// On the host every run of neighbours is drawn in place. A device draws contiguous stretches, so where a rank's
// elements are spread over the global order it draws the stretch around them, at most twice their number or 2^18 values
// at a time, and keeps its own.
//
// Collective. Refusals are those of the operation for one rank, on all ranks; also refused are quasi-random generators,
// whose coordinates are not numbered that way, and generators or options that differ between ranks.
#pragma once

#include <bit>
#include <functional>
#include <type_traits>

#include <trn/comm/matrix.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/uniform.hpp>

namespace trn::rand {

namespace detail {

// A box of this rank's elements that is drawn at once: `values` values from `generator` on, of which the box has those
// at global_strides; it lies `offset` elements into the local memory.
struct DrawnBox {
  Generator generator;
  std::int64_t values;
  Shape extent;
  Strides global_strides;
  std::int64_t offset;
  Strides strides;
  bool direct;  // the box is the values, and its place takes them as they come
};

// What a draw is about. `words` of the generator for each value.
struct DistDraw {
  const char* operation;
  std::uint64_t words;
  bool pairs_from_origin;          // as uniform.hpp says of doubles
  std::vector<std::int64_t> said;  // what has to be the same on all ranks beside the generator
};
struct DistTarget {
  comm::Communicator group;
  Family family;
  Shape shape;
  std::vector<dist::Part> parts;
};
// Collective. Calls each(piece) for what this rank draws, then moves the generator; what fails on one rank fails on
// all.
void draw_pieces(const DistDraw& draw, Generator& generator, const DistTarget& target,
                 const std::function<void(const DrawnBox&)>& each);

template <Element T> [[nodiscard]] DistTarget target_of(const dist::Array<T>& a) {
  return {a.group(), a.executor().family(), a.shape(), a.distribution().parts(a.group().rank())};
}
template <Element T> [[nodiscard]] DistTarget target_of(const dist::Matrix<T>& a) {
  return {a.group(), a.executor().family(), {a.rows(), a.columns()}, a.distribution().parts(a.group().rank())};
}

// Dist: dist::Array<T> or dist::Matrix<T>; op(executor, generator, view) is the operation for one rank.
template <template <class> class Dist, class T, class Op>
void draw_dist(DistDraw draw, Generator& generator, const Dist<T>& out, const Op& op) {
  draw.said.push_back(static_cast<std::int64_t>(dtype_of<T>));
  const Executor& e = out.executor();
  T* local = out.local().data();
  draw_pieces(draw, generator, target_of(out), [&](const DrawnBox& piece) {
    Generator at = piece.generator;
    const View<T> to(e, local == nullptr ? nullptr : local + piece.offset, piece.extent, piece.strides);
    if (piece.direct) return op(e, at, to);
    const trn::Array<T> stretch(e, {piece.values});
    op(e, at, stretch.view());
    if (to.size() > 0) copy(View<const T>(e, stretch.data(), piece.extent, piece.global_strides), to);
  });
}
[[nodiscard]] bool one_word_doubles(const State& state);
[[nodiscard]] bool pairs_doubles(const State& state);

template <class T> inline constexpr bool kWide = sizeof(T) == 8;
template <class T, class... Allowed>
concept OneOf = (std::same_as<T, Allowed> || ...);
inline std::int64_t said(double x) { return std::bit_cast<std::int64_t>(x); }

}  // namespace detail

template <template <class> class Dist> void raw32(Generator& generator, const Dist<std::uint32_t>& out) {
  detail::draw_dist({"rand.raw32", 1, false, {}}, generator, out,
                    [](const auto& e, auto& g, const auto& v) { raw32(e, g, v); });
}
template <template <class> class Dist> void raw64(Generator& generator, const Dist<std::uint64_t>& out) {
  detail::draw_dist({"rand.raw64", 2, false, {}}, generator, out,
                    [](const auto& e, auto& g, const auto& v) { raw64(e, g, v); });
}
template <template <class> class Dist, detail::OneOf<float, double> T>
void uniform(Generator& generator, const Dist<T>& out, Interval interval = Interval::OpenClosed) {
  const State& state = generator.state();
  const bool paired = detail::kWide<T> && interval == Interval::OpenClosed;
  const std::uint64_t words = detail::kWide<T> && !(paired && detail::one_word_doubles(state)) ? 2 : 1;
  detail::draw_dist(
      {"rand.uniform", words, paired && detail::pairs_doubles(state), {static_cast<std::int64_t>(interval)}}, generator,
      out, [&](const auto& e, auto& g, const auto& v) { uniform(e, g, v, interval); });
}
template <template <class> class Dist, detail::OneOf<float, double> T>
void normal(Generator& generator, const Dist<T>& out, const NormalOptions& o = {}) {
  const std::uint64_t words = detail::kWide<T> || o.method == NormalMethod::Inverse ? 2 : 1;
  detail::draw_dist({"rand.normal",
                     words,
                     false,
                     {detail::said(o.mean), detail::said(o.stddev), static_cast<std::int64_t>(o.method)}},
                    generator, out, [&](const auto& e, auto& g, const auto& v) { normal(e, g, v, o); });
}
template <template <class> class Dist, detail::OneOf<float, double> T>
void log_normal(Generator& generator, const Dist<T>& out, const LogNormalOptions& o = {}) {
  detail::draw_dist(
      {"rand.log_normal", detail::kWide<T> ? 2u : 1u, false, {detail::said(o.mean), detail::said(o.stddev)}}, generator,
      out, [&](const auto& e, auto& g, const auto& v) { log_normal(e, g, v, o); });
}
template <template <class> class Dist, detail::OneOf<float, double> T>
void exponential(Generator& generator, const Dist<T>& out, const ExponentialOptions& o = {}) {
  detail::draw_dist({"rand.exponential", detail::kWide<T> ? 2u : 1u, false, {detail::said(o.rate)}}, generator, out,
                    [&](const auto& e, auto& g, const auto& v) { exponential(e, g, v, o); });
}
template <template <class> class Dist, detail::OneOf<float, std::uint32_t> T>
void bernoulli(Generator& generator, const Dist<T>& out, const BernoulliOptions& o = {}) {
  detail::draw_dist({"rand.bernoulli", 1, false, {detail::said(o.p)}}, generator, out,
                    [&](const auto& e, auto& g, const auto& v) { bernoulli(e, g, v, o); });
}

}  // namespace trn::rand
