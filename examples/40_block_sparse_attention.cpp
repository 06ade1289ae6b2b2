// Attention over a long text with a sliding window and a few global tokens, on the host and on a simulated device.
//
// Every token meets the 256 before it and the first 128, which see everything before them. Of 64 blocks of 128 x 128
// pairs only those that hold an allowed pair are computed; the two results and their gradients agree within the bound.
#include <cmath>
#include <cstdio>
#include <vector>

#include <trn/core/event.hpp>
#include <trn/sparse/attention.hpp>

namespace {

using trn::sparse::AttentionMask;
using trn::sparse::AttentionPlan;

constexpr std::int64_t kTokens = 1024, kWindow = 256, kGlobal = 128, kHeads = 4, kKeyHeads = 2, kSize = 32;

std::vector<float> noise(std::int64_t count, std::uint32_t state) {
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
  return v;
}

struct Result {
  std::vector<float> o, dq;
  double seconds = 0, bound = 0;
};

Result run(const char* where, const AttentionMask& mask) {
  using Floats = trn::Array<float>;
  const trn::Executor e = trn::Executor::open(where);
  const AttentionPlan<float> plan(e, mask, {.heads = kHeads, .kv_heads = kKeyHeads, .d = kSize});
  const trn::Shape queries{kHeads, kTokens, kSize}, keys{kKeyHeads, kTokens, kSize};
  const auto in = [&](const trn::Shape& shape, std::uint32_t seed) {
    return Floats::from_host(e, shape, noise(trn::element_count(shape), seed));
  };
  const Floats q = in(queries, 1), k = in(keys, 2), v = in(keys, 3), slope = in(queries, 4);
  const Floats o(e, queries), sums(e, {kHeads, kTokens}), dq(e, queries), dk(e, keys), dv(e, keys);
  const auto read = [](const Floats& a) { return trn::View<const float>(a.view()); };
  const trn::Recorder recorder(e);
  const trn::Accuracy accuracy = plan.forward(read(q), read(k), read(v), o.view(), sums.view());
  plan.backward(read(q), read(k), read(v), read(o), read(sums), read(slope), dq.view(), dk.view(), dv.view());
  return {o.to_host(), dq.to_host(), recorder.modelled_seconds(), accuracy.bound};
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  return most;
}

}  // namespace

int main() {
  const AttentionMask mask(kTokens, kTokens,
                           [](std::int64_t i, std::int64_t j) { return j <= i && (i - j < kWindow || j < kGlobal); });
  const Result host = run("host", mask), device = run("sim:trn2", mask);
  const double o = largest_difference(host.o, device.o), dq = largest_difference(host.dq, device.dq);
  std::printf("%zu of %d blocks, %.1f %% of all pairs\n", mask.blocks().size(), 64,
              100.0 * static_cast<double>(mask.pairs()) / static_cast<double>(kTokens * kTokens));
  std::printf("modelled on trn2, forward and backward: %.1f us\n", device.seconds * 1e6);
  std::printf("largest difference between host and device: O %.1e, dQ %.1e\n", o, dq);
  // |scale| |q| |k| is at most sqrt(32) here, |V| at most 1.
  const double limit = (1 + std::sqrt(32.0)) * (host.bound + device.bound);
  return o <= limit ? 0 : 1;
}
