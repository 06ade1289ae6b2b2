// Block-sparse attention for the command line: `trnsci bench sparse.attention --mask band:13 --queries 8192`.
#include <charconv>
#include <cmath>
#include <optional>

#include <trn/sparse/attention.hpp>
#include <trn/sparse/attention_programs.hpp>
#include <trn/sparse/counts.hpp>

#include "program_bench.hpp"

namespace trn::tools {

std::unique_ptr<Operation> sparse_attention_operation(bool backward);

namespace {

constexpr std::int64_t kBlock = sparse::AttentionMask::kBlock;
// A mask looks at every pair; devices have room for some 30,000 keys.
constexpr std::int64_t kMostPlaces = 32768;

std::vector<float> numbers(std::int64_t count, std::uint64_t state) {
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = static_cast<float>(static_cast<double>(state >> 11) * 0x1p-52 - 1);
  }
  return v;
}

class Attention final : public ProgramBench {
 public:
  explicit Attention(bool backward) : backward_(backward) {}
  std::string name() const override { return backward_ ? "sparse.attention.backward" : "sparse.attention"; }
  std::string summary() const override {
    return backward_ ? "gradients of block-sparse attention" : "O = softmax(scale Q K^T) V over a mask's pairs";
  }
  std::string error_note() const override {
    return "largest |O - exact| in units of (1 + sigma_i)(P|V|)_ic over a sample of queries (attention.hpp)";
  }
  void add_options(Options& options) override {
    options.number("--queries", queries_, "queries, and keys unless --keys says otherwise", 1, kMostPlaces);
    options.number("--keys", keys_, "keys; 0: as many as queries", 0, kMostPlaces);
    options.number("--heads", heads_, "heads of Q");
    options.number("--kv-heads", kv_heads_, "heads of K and V");
    options.number("--d", d_, "head dimension");
    options.text("--mask", mask_,
                 "full, causal, band:N (N blocks of 128 around the diagonal), random:PERCENT of blocks");
    options.text("--precision", precision_, "devices: native or bf16").completes({"native", "bf16"});
  }

  tile::Program program(const tile::Machine& machine) const override {
    const sparse::AttentionShape s =
        sparse::attention_shape(mask(), plan_options(), Precision::parse(precision_).mode());
    return backward_ ? sparse::attention_backward_program(s, machine) : sparse::attention_program(s, machine);
  }

 protected:
  std::string precision(const Executor& e) const override { return e.family() == Family::Host ? "native" : precision_; }
  BenchShape extents() const override {
    const sparse::AttentionMask m = mask();
    return {{"queries", m.queries()},
            {"keys", m.keys()},
            {"heads", heads_},
            {"d", d_},
            {"blocks", static_cast<std::int64_t>(m.blocks().size())},
            {"nnz", m.pairs()},
            {"kernel", std::string("blocks of 128")}};
  }
  double device_peak(const tile::Machine& machine) const override {
    return tensor_roof(machine, DType::Float32, Precision::parse(precision_));
  }
  double work() const override {
    return sparse::counts::attention(static_cast<double>(mask().blocks().size()), static_cast<double>(kBlock),
                                     static_cast<double>(heads_), static_cast<double>(d_), backward_)
        .flops;
  }
  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    const sparse::AttentionMask m = mask();
    sparse::AttentionOptions o = plan_options();
    if (e.family() == Family::Host) o.precision = {};
    const sparse::AttentionPlan<float> plan(e, m, o);
    const Shape qs{heads_, m.queries(), d_}, ks{kv_heads_, m.keys(), d_};
    const std::vector<float> q = numbers(element_count(qs), 1), k = numbers(element_count(ks), 2),
                             v = numbers(element_count(ks), 3);
    const auto make = [&](const Shape& shape, const std::vector<float>& x) {
      return Array<float>::from_host(e, shape, x);
    };
    const auto qa = make(qs, q), ka = make(ks, k), va = make(ks, v), ga = make(qs, numbers(element_count(qs), 4));
    const Array<float> oa(e, qs), sa(e, {heads_, m.queries()}), dq(e, qs), dk(e, ks), dv(e, ks);
    const auto in = [](const Array<float>& a) { return View<const float>(a.view()); };
    const auto forward = [&] { return plan.forward(in(qa), in(ka), in(va), oa.view(), sa.view()); };
    if (!backward_) {
      const Measured measured = measure(e, repeats, [&] { row.bound = forward().bound; });
      row.error = error(m, q, k, v, oa.to_host());
      return measured;
    }
    {
      const PurposeScope probe(Purpose::Probe);
      (void)forward();
    }
    return measure(e, repeats, [&] {
      (void)plan.backward(in(qa), in(ka), in(va), in(oa), in(sa), in(ga), dq.view(), dk.view(), dv.view());
    });
  }

 private:
  sparse::AttentionOptions plan_options() const {
    sparse::AttentionOptions o{.heads = heads_, .kv_heads = kv_heads_, .d = d_, .dv = d_};
    o.precision = Precision::parse(precision_);
    return o;
  }
  bool block_allowed(std::int64_t number, std::int64_t i, std::int64_t j) const {
    if (mask_.starts_with("band:")) return 2 * std::abs(i - j) < number;
    std::uint64_t state = static_cast<std::uint64_t>(i * 65537 + j) * 0x9E3779B97F4A7C15ULL;
    state ^= state >> 29;
    state *= 0xBF58476D1CE4E5B9ULL;
    return (state >> 32) % 100 < static_cast<std::uint64_t>(number);
  }
  const sparse::AttentionMask& mask() const {
    if (!mask_made_) mask_made_ = make_mask();
    return *mask_made_;
  }
  sparse::AttentionMask make_mask() const {
    const std::int64_t keys = keys_ == 0 ? queries_ : keys_;
    if (mask_ == "full") return sparse::AttentionMask::full(queries_, keys);
    if (mask_ == "causal") return sparse::AttentionMask::causal(queries_, keys);
    require(mask_.starts_with("band:") || mask_.starts_with("random:"),
            "bench: mask '{}' is unknown; use full, causal, band:N or random:PERCENT", mask_);
    const bool band = mask_.starts_with("band:");
    const char *first = mask_.data() + mask_.find(':') + 1, *last = mask_.data() + mask_.size();
    const std::int64_t most = band ? kMostPlaces : 100;
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(first, last, number);
    require(error == std::errc() && end == last && number >= 0 && number <= most,
            "bench: mask '{}' must have a whole number from 0 to {} after the colon", mask_, most);
    return sparse::AttentionMask(
        queries_, keys, [&](std::int64_t i, std::int64_t j) { return block_allowed(number, i / kBlock, j / kBlock); });
  }
  double error(const sparse::AttentionMask& m, const std::vector<float>& q, const std::vector<float>& k,
               const std::vector<float>& v, const std::vector<float>& out) const {
    const std::int64_t step = std::max<std::int64_t>(1, m.queries() / 16);
    const long double scale = 1 / std::sqrt(static_cast<double>(d_));
    double largest = 0;
    for (std::int64_t i = 0; i < m.queries(); i += step) {  // of the first head
      std::vector<std::int64_t> keys;
      for (const auto& b : m.blocks()) {
        if (b.row != i / kBlock) continue;
        for (std::int64_t j = b.column * kBlock; j < std::min(m.keys(), (b.column + 1) * kBlock); ++j) {
          const auto flag = static_cast<std::size_t>(i % kBlock * kBlock + j % kBlock);
          if (b.part < 0 || m.parts()[static_cast<std::size_t>(b.part)][flag] != 0) keys.push_back(j);
        }
      }
      std::vector<long double> p;
      long double sigma = 0, sum = 0;
      for (const std::int64_t j : keys) {
        long double dot = 0, size = 0;
        for (std::int64_t c = 0; c < d_; ++c) {
          const long double x = static_cast<long double>(q[static_cast<std::size_t>(i * d_ + c)]) *
                                k[static_cast<std::size_t>(j * d_ + c)];
          dot += x, size += std::abs(x);
        }
        sigma = std::max(sigma, scale * size);
        p.push_back(std::exp(scale * dot));
        sum += p.back();
      }
      for (std::int64_t c = 0; c < d_ && !keys.empty(); ++c) {
        long double exact = 0, size = 0;
        for (std::size_t n = 0; n < keys.size(); ++n) {
          const long double x = p[n] / sum * v[static_cast<std::size_t>(keys[n] * d_ + c)];
          exact += x, size += std::abs(x);
        }
        const long double off = std::abs(out[static_cast<std::size_t>(i * d_ + c)] - exact);
        largest = std::max(largest, static_cast<double>(off / ((1 + sigma) * size)));
      }
    }
    return largest;
  }

  bool backward_;
  std::int64_t queries_ = 1024, keys_ = 0, heads_ = 1, kv_heads_ = 1, d_ = 64;
  std::string mask_ = "causal", precision_ = "native";
  mutable std::optional<sparse::AttentionMask> mask_made_;
};

}  // namespace

std::unique_ptr<Operation> sparse_attention_operation(bool backward) { return std::make_unique<Attention>(backward); }

}  // namespace trn::tools
