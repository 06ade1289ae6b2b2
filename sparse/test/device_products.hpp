// What the tests of products on simulated devices share: one call, checked componentwise against 113-bit sums within
// the plan's bound, with nothing written beside C.
#pragma once

#include <cmath>
#include <map>

#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/sparse/spmm.hpp>

#include "sparse_support.hpp"

namespace trn::sparse {

inline const Executor& device(const std::string& name) {
  static std::map<std::string, Executor> open;
  return open.try_emplace(name, Executor::open(name)).first->second;
}

struct Case {
  Op op = Op::N;
  std::int64_t n = 8;
  SpmmOptions options = {};
  float alpha = 1, beta = 0;
  bool row_major = true;
  std::int64_t pad = 0;
};

// C = alpha op(A) B + beta C on `executor`; returns C row by row.
inline std::vector<float> check(const Executor& executor, const Csr<float>& a, Case p) {
  p.options.op = p.op, p.options.columns = p.n;
  SCOPED_TRACE(fmt::format("{}: {} x {}, op {}, {} columns, {}, {}", executor.name(), a.rows(), a.columns(),
                           static_cast<int>(p.op), p.n, name(p.options.kernel), name(p.options.precision.mode())));
  const Csr<float> there = a.to(executor);
  const SpmmPlan<float> plan(executor, there, p.options);
  EXPECT_TRUE(p.options.kernel == Kernel::Automatic || plan.report().kernel == p.options.kernel);
  const std::int64_t m = plan.rows(), k = plan.columns(), n = p.n;
  const auto strides = [&](std::int64_t r) {
    return p.row_major ? std::pair(n + p.pad, std::int64_t{1}) : std::pair(std::int64_t{1}, r + p.pad);
  };
  const auto [br, bc] = strides(k);
  const auto [cr, cc] = strides(m);
  const auto room = [](std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs) {
    return r == 0 || c == 0 ? std::int64_t{1} : (r - 1) * rs + (c - 1) * cs + 1;
  };
  const std::vector<float> b = random_vector<float>(room(k, n, br, bc), 5);
  std::vector<float> c = random_vector<float>(room(m, n, cr, cc), 6);
  if (p.beta == 0) std::fill(c.begin(), c.end(), std::nanf(""));
  const auto bd = Array<float>::from_host(executor, {static_cast<std::int64_t>(b.size())}, b);
  const auto cd = Array<float>::from_host(executor, {static_cast<std::int64_t>(c.size())}, c);
  Recorder recorder(executor);
  const Accuracy accuracy = plan.execute(p.alpha, MatrixView<const float>(executor, bd.data(), k, n, br, bc), p.beta,
                                         MatrixView<float>(executor, cd.data(), m, n, cr, cc));
  EXPECT_EQ(recorder.family_of("sparse.spmm"), "device");
  EXPECT_EQ(recorder.count(EventKind::Run), m > 0 && n > 0 && !(plan.report().nnz == 0 && p.beta == 1) ? 1 : 0);
  std::vector<float> got = cd.to_host(), out;
  const Csr<float> turned = p.op == Op::N ? a : transpose(a);
  const std::int64_t* offsets = turned.pattern().offsets().data();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Quad sum = 0;
      double size = 0;
      for (std::int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
        const float x = turned.values().data()[e];
        const float y = b[static_cast<std::size_t>(turned.pattern().indices().data()[e] * br + j * bc)];
        sum += static_cast<Quad>(x) * y;
        size += std::abs(static_cast<double>(x) * y);
      }
      sum *= p.alpha, size *= std::abs(static_cast<double>(p.alpha));
      float& now = got[static_cast<std::size_t>(i * cr + j * cc)];
      float& before = c[static_cast<std::size_t>(i * cr + j * cc)];
      if (p.beta != 0)
        sum += static_cast<Quad>(p.beta) * before, size += std::abs(static_cast<double>(p.beta) * before);
      const double error = std::abs(static_cast<double>(static_cast<Quad>(now) - sum));
      EXPECT_LE(error, accuracy.bound * size) << i << ", " << j;
      if (!(error <= accuracy.bound * size)) return {};
      out.push_back(now);
      now = before = 0;
    }
  }
  for (std::size_t i = 0; i < got.size(); ++i) {  // nothing beside C was written
    if (!(got[i] == c[i] || (std::isnan(got[i]) && std::isnan(c[i])))) ADD_FAILURE() << "element " << i;
  }
  return out;
}

}  // namespace trn::sparse
