// Attention, forward and backward, on the host and on simulated devices: against long double within the stated bounds,
// gradients also against central differences; heads, grouped queries, any mask, scale; order of the engines; refusals.
#include <cmath>
#include <limits>
#include <map>

#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/sparse/attention.hpp>
#include <trn/sparse/attention_programs.hpp>

#include "sparse_support.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

using Long = long double;

struct Problem {
  AttentionMask mask;
  AttentionOptions o;
  std::int64_t dv() const { return o.dv == 0 ? o.d : o.dv; }
  double scale() const { return o.scale == 0 ? 1 / std::sqrt(static_cast<double>(o.d)) : o.scale; }
};

// Everything in long double, with the sizes that the bounds refer to.
struct Exact {
  std::vector<Long> o, o_size, sums, dq, dk, dv, dq_size, dk_size, dv_size;
  std::vector<Long> sigma;  // by head and query
  Long most_sigma = 0;
};

template <class T> Exact exact(const Problem& p, const std::function<bool(std::int64_t, std::int64_t)>& allowed,
                               const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v,
                               const std::vector<T>& d_o) {
  const std::int64_t s = p.mask.queries(), t = p.mask.keys(), d = p.o.d, dv = p.dv(), group = p.o.heads / p.o.kv_heads;
  const auto sz = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  Exact e;
  e.o.resize(sz(p.o.heads * s * dv)), e.o_size = e.o;
  e.sums.resize(sz(p.o.heads * s)), e.sigma = e.sums;
  e.dq.resize(q.size()), e.dq_size = e.dq, e.dk.resize(k.size()), e.dk_size = e.dk;
  e.dv.resize(v.size()), e.dv_size = e.dv;
  const Long scale = p.scale();
  for (std::int64_t h = 0; h < p.o.heads; ++h) {
    for (std::int64_t i = 0; i < s; ++i) {
      const T *qi = &q[sz((h * s + i) * d)], *gi = &d_o[sz((h * s + i) * dv)];
      const std::int64_t kv = h / group;
      std::vector<Long> score(sz(t));
      Long most = -1e30L, sum = 0;
      for (std::int64_t j = 0; j < t; ++j) {
        if (!allowed(i, j)) continue;
        Long dot = 0, size = 0;
        for (std::int64_t c = 0; c < d; ++c) {
          const Long x = static_cast<Long>(qi[c]) * k[sz((kv * t + j) * d + c)];
          dot += x, size += std::abs(x);
        }
        score[sz(j)] = scale * dot;
        most = std::max(most, score[sz(j)]);
        e.sigma[sz(h * s + i)] = std::max(e.sigma[sz(h * s + i)], std::abs(scale) * size);
      }
      e.most_sigma = std::max(e.most_sigma, e.sigma[sz(h * s + i)]);
      for (std::int64_t j = 0; j < t; ++j) {
        if (allowed(i, j)) sum += std::exp(score[sz(j)] - most);
      }
      if (sum == 0) continue;
      e.sums[sz(h * s + i)] = most + std::log(sum);
      Long dot_o = 0, dot_size = 0;
      for (std::int64_t c = 0; c < dv; ++c) {
        Long& out = e.o[sz((h * s + i) * dv + c)];
        Long& size = e.o_size[sz((h * s + i) * dv + c)];
        for (std::int64_t j = 0; j < t; ++j) {
          if (!allowed(i, j)) continue;
          const Long x = std::exp(score[sz(j)] - most) / sum * v[sz((kv * t + j) * dv + c)];
          out += x, size += std::abs(x);
        }
        dot_o += gi[c] * out, dot_size += std::abs(gi[c]) * size;
      }
      for (std::int64_t j = 0; j < t; ++j) {
        if (!allowed(i, j)) continue;
        const Long prob = std::exp(score[sz(j)] - most) / sum;
        Long dp = 0, dp_size = 0;
        for (std::int64_t c = 0; c < dv; ++c) {
          const Long x = static_cast<Long>(gi[c]) * v[sz((kv * t + j) * dv + c)];
          dp += x, dp_size += std::abs(x);
          e.dv[sz((kv * t + j) * dv + c)] += prob * gi[c];
          e.dv_size[sz((kv * t + j) * dv + c)] += prob * std::abs(gi[c]);
        }
        const Long ds = prob * (dp - dot_o), size = prob * (dp_size + dot_size);
        for (std::int64_t c = 0; c < d; ++c) {
          const Long kk = k[sz((kv * t + j) * d + c)], qq = qi[c];
          e.dq[sz((h * s + i) * d + c)] += scale * ds * kk;
          e.dq_size[sz((h * s + i) * d + c)] += std::abs(scale * kk) * size;
          e.dk[sz((kv * t + j) * d + c)] += scale * ds * qq;
          e.dk_size[sz((kv * t + j) * d + c)] += std::abs(scale * qq) * size;
        }
      }
    }
  }
  return e;
}

template <class T> struct Results {
  std::vector<T> o, sums, dq, dk, dv;
  bool operator==(const Results&) const = default;
};

template <class T> void within(const char* what, const std::vector<T>& got, const std::vector<Long>& want,
                               const std::vector<Long>& size, double factor) {
  int wrong = 0;
  for (std::size_t i = 0; i < got.size() && wrong < 3; ++i) {
    if (!(std::abs(got[i] - want[i]) <= factor * size[i])) {
      ++wrong;
      ADD_FAILURE() << what << "[" << i << "] = " << got[i] << ", exact " << static_cast<double>(want[i]) << ", limit "
                    << static_cast<double>(factor * size[i]);
    }
  }
}

template <class T>
Results<T> check(const Executor& e, const Problem& p, const std::function<bool(std::int64_t, std::int64_t)>& allowed) {
  SCOPED_TRACE(fmt::format("{}, {} x {}, heads {} / {}, d {}, dv {}", e.name(), p.mask.queries(), p.mask.keys(),
                           p.o.heads, p.o.kv_heads, p.o.d, p.o.dv));
  const std::int64_t s = p.mask.queries(), t = p.mask.keys(), dv = p.dv();
  const auto q = random_vector<T>(p.o.heads * s * p.o.d, 1), k = random_vector<T>(p.o.kv_heads * t * p.o.d, 2),
             v = random_vector<T>(p.o.kv_heads * t * dv, 3), d_o = random_vector<T>(p.o.heads * s * dv, 4);
  const auto array = [&](const Shape& shape, const std::vector<T>& x) { return Array<T>::from_host(e, shape, x); };
  const Shape qs{p.o.heads, s, p.o.d}, ks{p.o.kv_heads, t, p.o.d}, vs{p.o.kv_heads, t, dv}, os{p.o.heads, s, dv};
  const auto qa = array(qs, q), ka = array(ks, k), va = array(vs, v), ga = array(os, d_o);
  const Array<T> oa(e, os), sa(e, {p.o.heads, s}), dqa(e, qs), dka(e, ks), dva(e, vs);
  const AttentionPlan<T> plan(e, p.mask, p.o);
  Recorder recorder(e);
  const auto in = [](const Array<T>& a) { return View<const T>(a.view()); };
  const Accuracy forward = plan.forward(in(qa), in(ka), in(va), oa.view(), sa.view());
  const Accuracy backward =
      plan.backward(in(qa), in(ka), in(va), in(oa), in(sa), in(ga), dqa.view(), dka.view(), dva.view());
  EXPECT_EQ(recorder.family_of("sparse.attention"), name(e.family()));
  EXPECT_EQ(recorder.family_of("sparse.attention.backward"), name(e.family()));
  EXPECT_EQ(recorder.count(EventKind::Run), e.family() == Family::Device ? 2 : 0);
  Results<T> r{oa.to_host(), sa.to_host(), dqa.to_host(), dka.to_host(), dva.to_host()};
  const Exact x = exact(p, allowed, q, k, v, d_o);
  std::vector<Long> size = x.o_size;
  for (std::size_t i = 0; i < size.size(); ++i) size[i] *= 1 + x.sigma[i / static_cast<std::size_t>(dv)];
  within("O", r.o, x.o, size, forward.bound);
  const double slopes = 3 * backward.bound * static_cast<double>(1 + x.most_sigma);
  within("dQ", r.dq, x.dq, x.dq_size, slopes);
  within("dK", r.dk, x.dk, x.dk_size, slopes);
  within("dV", r.dv, x.dv, x.dv_size, slopes);
  for (std::int64_t i = 0; i < s; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (p.mask.has_keys(i))
      EXPECT_NEAR(r.sums[at], static_cast<double>(x.sums[at]),
                  4 * forward.bound * (1 + std::abs(static_cast<double>(x.sums[at]))));
    else
      EXPECT_GE(r.sums[at], T(1e29));
  }
  return r;
}

const Executor& device(const std::string& name) {
  static std::map<std::string, Executor> open;
  return open.try_emplace(name, Executor::open(name)).first->second;
}

// A band, some far blocks, queries without keys (one of them in a block, a whole block in the middle).
bool ragged(std::int64_t i, std::int64_t j) {
  if (i == 5 || i / 128 == 1) return false;
  return (j <= i && i - j < 70) || (i % 128 < 60 && j / 128 == 0 && j % 3 == 0);
}
bool all_pairs(std::int64_t, std::int64_t) { return true; }

TEST(Attention, HostWithinItsBounds) {
  const Executor host = Executor::host();
  check<double>(host, {AttentionMask::full(3, 2), {.d = 4}}, all_pairs);
  check<float>(host, {AttentionMask(300, 280, ragged), {.heads = 4, .kv_heads = 2, .d = 20, .dv = 12, .scale = -0.4}},
               ragged);
  check<double>(host, {AttentionMask(300, 280, ragged), {.heads = 2, .kv_heads = 1, .d = 16}}, ragged);
  check<float>(host, {AttentionMask::causal(130, 150), {.d = 8}},
               [](std::int64_t i, std::int64_t j) { return j <= i + 20; });
}

TEST(Attention, DevicesWithinTheirBounds) {
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    for (const Mode mode : {Mode::Native, Mode::Bf16}) {
      check<float>(device(name),
                   {AttentionMask(300, 280, ragged), {.heads = 2, .kv_heads = 1, .d = 20, .dv = 12, .precision = mode}},
                   ragged);
    }
  }
  const Executor& e = device("sim:trn2");
  check<float>(e, {AttentionMask::full(128, 128), {.d = 128}}, all_pairs);
  check<float>(e, {AttentionMask::full(1, 700), {.d = 5}}, all_pairs);
  check<float>(e, {AttentionMask::full(129, 1), {.heads = 3, .kv_heads = 3, .d = 130, .dv = 129, .scale = 0.01}},
               all_pairs);
  check<float>(e, {AttentionMask::causal(260, 260), {.heads = 4, .kv_heads = 2, .d = 64, .scale = -0.3}},
               [](std::int64_t i, std::int64_t j) { return j <= i; });
}

// Long rows and columns among short ones: what waits for its turn in the pipelines must still be there.
TEST(Attention, RowsAndColumnsOfVeryDifferentLengths) {
  const auto rows = [](std::int64_t i, std::int64_t j) { return i / 128 == 1 || (j / 128 == i / 128 && i % 128 < 30); };
  const auto columns = [&](std::int64_t i, std::int64_t j) { return rows(j, i); };
  for (const auto& allowed : {std::function<bool(std::int64_t, std::int64_t)>(rows), {columns}})
    check<float>(device("sim:trn2"), {AttentionMask(1300, 1300, allowed), {.d = 4}}, allowed);
}

TEST(Attention, MasksOfEveryKind) {
  const auto allowed = [](std::int64_t i, std::int64_t j) { return (i / 16 + j / 16) % 3 == 0; };
  std::vector<std::int64_t> is, js;
  for (std::int64_t i = 0; i < 200; ++i) {
    for (std::int64_t j = 0; j < 190; ++j) {
      if (allowed(i, j)) is.push_back(i), js.push_back(j);
    }
  }
  const std::vector<float> ones(is.size(), 1.0f);
  const auto pattern = Csr<float>::from_triplets(Executor::host(), {200, 190}, {is, js, ones}).pattern();
  std::vector<std::int64_t> bi, bj;
  for (std::int64_t i = 0; i < 13; ++i) {
    for (std::int64_t j = 0; j < 12; ++j) {
      if ((i + j) % 3 == 0) bi.push_back(i), bj.push_back(j);
    }
  }
  const std::vector<float> block_ones(bi.size(), 1.0f);
  const auto blocks = Csr<float>::from_triplets(Executor::host(), {13, 12}, {bi, bj, block_ones}).pattern();
  const AttentionMask masks[] = {AttentionMask(pattern), AttentionMask(200, 190, allowed),
                                 AttentionMask::from_blocks(200, 190, 16, blocks)};
  for (const AttentionMask& m : masks) {
    EXPECT_EQ(m.blocks(), masks[0].blocks());
    EXPECT_EQ(m.parts(), masks[0].parts());
    EXPECT_EQ(m.pairs(), static_cast<std::int64_t>(is.size()));
  }
  check<float>(Executor::host(), {masks[2], {.d = 8}}, allowed);
}

TEST(Attention, NothingToDo) {
  for (const char* name : {"host", "sim:trn2"}) {
    const auto none = [](std::int64_t, std::int64_t) { return false; };
    check<float>(device(name), {AttentionMask(130, 20, none), {.heads = 2, .kv_heads = 1, .d = 4}}, none);
  }
}

// All results for given operands, without a look at them.
template <class T> struct Operands { std::vector<T> q, k, v, d_o; };
template <class T> Results<T> results(const Executor& e, const Problem& p, const Operands<T>& x) {
  const std::int64_t s = p.mask.queries(), t = p.mask.keys(), dv = p.dv();
  const Shape qs{p.o.heads, s, p.o.d}, ks{p.o.kv_heads, t, p.o.d}, vs{p.o.kv_heads, t, dv}, os{p.o.heads, s, dv};
  const auto array = [&](const Shape& shape, const std::vector<T>& a) { return Array<T>::from_host(e, shape, a); };
  const auto q = array(qs, x.q), k = array(ks, x.k), v = array(vs, x.v), d_o = array(os, x.d_o);
  const Array<T> o(e, os), sums(e, {p.o.heads, s}), dq(e, qs), dk(e, ks), dva(e, vs);
  const auto in = [](const Array<T>& a) { return View<const T>(a.view()); };
  const AttentionPlan<T> plan(e, p.mask, p.o);
  plan.forward(in(q), in(k), in(v), o.view(), sums.view());
  plan.backward(in(q), in(k), in(v), in(o), in(sums), in(d_o), dq.view(), dk.view(), dva.view());
  return {o.to_host(), sums.to_host(), dq.to_host(), dk.to_host(), dva.to_host()};
}
template <class T> Operands<T> operands(const Problem& p) {
  const std::int64_t s = p.mask.queries(), t = p.mask.keys();
  return {random_vector<T>(p.o.heads * s * p.o.d, 1), random_vector<T>(p.o.kv_heads * t * p.o.d, 2),
          random_vector<T>(p.o.kv_heads * t * p.dv(), 3), random_vector<T>(p.o.heads * s * p.dv(), 4)};
}
template <class T> void spoil(std::vector<T>& x, std::int64_t row, std::int64_t width) {
  const T garbage[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity()};
  for (std::int64_t c = 0; c < width; ++c) x[static_cast<std::size_t>(row * width + c)] = garbage[(row + c) % 3];
}

// Padding: keys that no query may see, queries without keys. Whatever stands there must not reach anything.
template <class T> void padding_may_hold_anything(const Executor& e, Mode mode) {
  SCOPED_TRACE(fmt::format("{} {}", e.name(), name(mode)));
  // Alone, in a row, at the ends of a block, a whole block; blocks that stay whole.
  const auto query = [](std::int64_t i) { return i != 5 && i != 127 && !(i >= 130 && i < 140) && i < 400; };
  const auto key = [](std::int64_t j) { return j != 0 && j != 64 && j / 128 != 1 && j < 290; };
  const Problem p{AttentionMask(420, 300, [&](auto i, auto j) { return query(i) && key(j) && (i + j) % 7 != 0; }),
                  {.heads = 2, .kv_heads = 1, .d = 20, .dv = 12, .precision = mode}};
  Operands<T> x = operands<T>(p);
  const Results<T> clean = results(e, p, x);
  for (std::int64_t j = 0; j < 300; ++j) {
    if (!key(j)) spoil(x.k, j, 20), spoil(x.v, j, 12);
  }
  for (std::int64_t i = 0; i < 840; ++i) {
    if (!query(i % 420)) spoil(x.q, i, 20), spoil(x.d_o, i, 12);
  }
  EXPECT_EQ(clean, results(e, p, x));
  for (const T value : clean.o) ASSERT_TRUE(std::isfinite(value));
  for (const T value : clean.dk) ASSERT_TRUE(std::isfinite(value));
}
TEST(Attention, PaddingMayHoldAnything) {
  padding_may_hold_anything<float>(Executor::host(), Mode::Native);
  padding_may_hold_anything<double>(Executor::host(), Mode::Native);
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    for (const Mode mode : {Mode::Native, Mode::Bf16}) padding_may_hold_anything<float>(device(machine), mode);
  }
}

// On the host what is not finite reaches the pairs it is in and no others.
TEST(Attention, HostSpreadsNothingBeyondThePairs) {
  const auto allowed = [](std::int64_t i, std::int64_t j) { return (i * 5 + j * 3) % 4 == 0; };
  const Problem p{AttentionMask(150, 140, allowed), {.d = 6, .dv = 5}};
  const Executor host = Executor::host();
  const Operands<float> x = operands<float>(p);
  const Results<float> clean = results(host, p, x);
  const std::int64_t at = 9;
  // A spoiled key: queries that do not see it keep O and dQ, keys that share no query with it their gradients.
  const auto same_row = [](const std::vector<float>& a, const std::vector<float>& b, std::int64_t row,
                           std::int64_t width) {
    return std::equal(a.begin() + row * width, a.begin() + (row + 1) * width, b.begin() + row * width);
  };
  for (const bool value : {false, true}) {
    Operands<float> y = x;
    spoil(value ? y.v : y.k, at, value ? 5 : 6);
    const Results<float> got = results(host, p, y);
    for (std::int64_t i = 0; i < 150; ++i) {
      EXPECT_EQ(same_row(clean.o, got.o, i, 5), !allowed(i, at)) << i;
      if (!allowed(i, at)) {
        EXPECT_TRUE(same_row(clean.dq, got.dq, i, 6)) << i;
      }
    }
    for (std::int64_t j = 0; j < 140; ++j) {
      bool shared = false;
      for (std::int64_t i = 0; i < 150; ++i) shared = shared || (allowed(i, j) && allowed(i, at));
      if (!shared) {
        EXPECT_TRUE(same_row(clean.dk, got.dk, j, 6) && same_row(clean.dv, got.dv, j, 5)) << j;
      }
    }
  }
  // A spoiled query: the others keep everything, keys that it does not see their gradients.
  for (const bool slope : {false, true}) {
    Operands<float> y = x;
    spoil(slope ? y.d_o : y.q, at, slope ? 5 : 6);
    const Results<float> got = results(host, p, y);
    for (std::int64_t i = 0; i < 150; ++i) {
      if (i != at) {
        EXPECT_TRUE(same_row(clean.o, got.o, i, 5) && same_row(clean.dq, got.dq, i, 6)) << i;
      }
    }
    for (std::int64_t j = 0; j < 140; ++j) {
      const bool same = same_row(clean.dk, got.dk, j, 6) && same_row(clean.dv, got.dv, j, 5);
      EXPECT_EQ(same, !allowed(at, j)) << j;
    }
  }
}

TEST(Attention, NoQueriesOrNoKeys) {
  for (const char* where : {"host", "sim:trn2"}) {
    const Executor& e = device(where);
    for (const auto& [s, t] : {std::pair(0, 10), std::pair(10, 0), std::pair(0, 0)}) {
      const Problem p{AttentionMask::full(s, t), {.heads = 2, .kv_heads = 1, .d = 4, .dv = 3}};
      const Results<float> r = results(e, p, operands<float>(p));
      for (const auto& x : {r.o, r.dq, r.dk, r.dv}) EXPECT_EQ(x, std::vector<float>(x.size(), 0.0f));
      for (const float sum : r.sums) EXPECT_GE(sum, 1e30f);
    }
    const AttentionPlan<float> plan(e, AttentionMask::full(4, 4), {.d = 2});
    const auto x = Array<float>::from_host(e, {1, 4, 2}, std::vector<float>(8, 1.0f));
    const Array<float> o(e, {1, 4, 2}), none(e, {0});
    EXPECT_NO_THROW(plan.forward(x.view(), x.view(), x.view(), o.view(), none.view()));
    EXPECT_EQ(o.to_host(), x.to_host());
  }
}

// f(Q, K, V) = sum of weights * O, by differences in float64.
TEST(Attention, GradientsAreCentralDifferences) {
  const Executor host = Executor::host();
  const Problem p{AttentionMask(140, 131, ragged), {.heads = 2, .kv_heads = 1, .d = 6, .dv = 5, .scale = 0.7}};
  const AttentionPlan<double> plan(host, p.mask, p.o);
  std::vector<double> q = random_vector<double>(2 * 140 * 6, 1), k = random_vector<double>(131 * 6, 2),
                      v = random_vector<double>(131 * 5, 3), w = random_vector<double>(2 * 140 * 5, 4);
  std::vector<double> o(w.size()), sums(280), dq(q.size()), dk(k.size()), dv(v.size());
  const auto view = [&](auto& x, const Shape& shape) { return View<double>(host, x.data(), shape); };
  const auto f = [&] {
    plan.forward(view(q, {2, 140, 6}), view(k, {1, 131, 6}), view(v, {1, 131, 5}), view(o, {2, 140, 5}),
                 view(sums, {2, 140}));
    double total = 0;
    for (std::size_t i = 0; i < o.size(); ++i) total += w[i] * o[i];
    return total;
  };
  (void)f();
  plan.backward(view(q, {2, 140, 6}), view(k, {1, 131, 6}), view(v, {1, 131, 5}), view(o, {2, 140, 5}),
                view(sums, {2, 140}), view(w, {2, 140, 5}), view(dq, {2, 140, 6}), view(dk, {1, 131, 6}),
                view(dv, {1, 131, 5}));
  constexpr double kStep = 1e-5;
  const auto compare = [&](std::vector<double>& x, const std::vector<double>& slope, std::size_t step) {
    for (std::size_t i = 3; i < x.size(); i += step) {
      const double kept = x[i];
      x[i] = kept + kStep;
      const double above = f();
      x[i] = kept - kStep;
      const double below = f();
      x[i] = kept;
      EXPECT_NEAR((above - below) / (2 * kStep), slope[i], 1e-8 + 1e-7 * std::abs(slope[i])) << i;
    }
  };
  compare(q, dq, 97);
  compare(k, dk, 61);
  compare(v, dv, 61);
}

TEST(Attention, ShuffledOrderGivesTheSameBitsAndNothingRaces) {
  const Problem p{AttentionMask(260, 200, ragged), {.heads = 2, .kv_heads = 1, .d = 12}};
  const auto run = [&](const neuron::SimOptions& o) {
    return check<float>(neuron::open_simulator("trn2", o), p, ragged);
  };
  const auto timed = run({});
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
  EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
}

TEST(Attention, Refusals) {
  const Executor& e = device("sim:trn2");
  const AttentionMask mask = AttentionMask::full(4, 4);
  EXPECT_THROW(AttentionPlan<float>(e, mask, {.heads = 3, .kv_heads = 2}), InvalidArgument);
  EXPECT_THROW(AttentionPlan<float>(e, mask, {.precision = Mode::Tf32}), NotImplemented);
  EXPECT_THROW(AttentionPlan<float>(Executor::host(), mask, {.precision = Mode::Bf16}), NotImplemented);
  EXPECT_THROW(AttentionPlan<float>(e, mask, {.d = 600}), NotImplemented);
  EXPECT_THROW(AttentionPlan<double>(e, mask, {.d = 4}), NotImplemented);
  const AttentionPlan<float> plan(Executor::host(), mask, {.d = 2});
  std::vector<float> x(8), y(8);
  const auto view = [&](std::vector<float>& a, const Shape& s) { return View<float>(Executor::host(), a.data(), s); };
  const auto call = [&](const Shape& q, std::vector<float>& out) {
    plan.forward(view(x, q), view(x, {1, 4, 2}), view(x, {1, 4, 2}), view(out, {1, 4, 2}),
                 View<float>(Executor::host(), nullptr, {0}));
  };
  EXPECT_THROW(call({1, 2, 4}, y), InvalidArgument);
  EXPECT_THROW(call({1, 4, 2}, x), InvalidArgument);
  EXPECT_NO_THROW(call({1, 4, 2}, y));
}

TEST(Attention, EmittedKernelsGiveTheSimulatorsBits) {
  const AttentionMask mask(140, 140, ragged);
  const AttentionShape s = attention_shape(mask, {.heads = 2, .kv_heads = 1, .d = 8, .dv = 8}, Mode::Native);
  // Exponentials of the stand-in differ in the last bits.
  neuron::testing::expect_agreement(attention_program(s, tile::machine("trn2")), {}, 64);
}

}  // namespace
}  // namespace trn::sparse
