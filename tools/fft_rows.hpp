// What the rows of trnfft share: sizes and dtype, random data, the frame of a benchmark row. The column of rates counts
// what trn/fft/counts.hpp says. The error is || y - exact ||_2 / || exact ||_2, from 48 points of the first transform
// summed directly in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/fft/counts.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "roofs.hpp"

namespace trn::tools::fft_rows {

template <class T> std::vector<T> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& x : values) x = static_cast<T>(normal(engine));
  return values;
}

inline std::int64_t product(const std::vector<std::int64_t>& lengths) {
  std::int64_t n = 1;
  for (const std::int64_t l : lengths) n *= l;
  return n;
}

inline constexpr int kSamples = 48;
using Long = std::complex<long double>;
inline Long turn(std::int64_t k, std::int64_t n) {  // exp(2 pi i k/n)
  const long double x =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / static_cast<long double>(n);
  return {std::cos(x), std::sin(x)};
}

// What plans and functions share: sizes, dtype, the frame of a row.
class Transforms : public Operation {
 public:
  std::string error_note() const override {
    return "||y - exact|| / ||exact|| (L2), estimated from 48 points of one transform; bound: the plan's";
  }
  std::vector<std::string> default_executors() const override {
    return dtype_ == "fp32" ? std::vector<std::string>{"host", "sim:trn2"} : std::vector<std::string>{"host"};
  }

 protected:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    r.dtype = trn::name(parse_dtype(dtype_));
    r.precision = precision_;
    r.shape = shape();
    r.work = flops();
    r.roof = flop_roof(executor, parse_dtype(dtype_), Precision::parse(precision_));
    if (options.model_only) {
      r.modelled_seconds = model(tile::device_of(executor).machine(), r);
      return;
    }
    Recorder recorder(executor);
    switch (parse_dtype(dtype_)) {
      case DType::Float32:
        (void)run<float>(executor, options, r);
        break;
      case DType::Float64:
        (void)run<double>(executor, options, r);
        break;
      default:
        fail<InvalidArgument>("{}: no transform of dtype {}; choose fp32 or fp64", name(), dtype_);
    }
    if (executor.family() == Family::Device) {
      r.modelled_seconds = modelled_time(executor, recorder);
      if (describes_runs()) (void)model(tile::device_of(executor).machine(), r);
    }
  }

  virtual double flops() const = 0;
  // Whether the note of a row that was run says which programs these were.
  virtual bool describes_runs() const { return false; }
  virtual BenchShape shape() const = 0;
  virtual int run_single(const Executor&, const BenchOptions&, BenchRow&) const = 0;
  virtual int run_double(const Executor&, const BenchOptions&, BenchRow&) const = 0;
  template <class T> int run(const Executor& e, const BenchOptions& o, BenchRow& r) const {
    return std::is_same_v<T, float> ? run_single(e, o, r) : run_double(e, o, r);
  }
  // Modelled seconds of all programs; the note says for each name how often it runs, how long, and which engine is
  // busiest.
  double model(const tile::Machine& machine, BenchRow& r) const {
    struct Sum {
      std::string name;
      int times = 0;
      double seconds = 0;
      std::vector<std::pair<std::string, double>> lanes;
    };
    std::vector<Sum> sums;
    double seconds = 0, roof_seconds = 0;
    for (const auto& program : programs(machine)) {
      const neuron::RunReport report = neuron::estimate(*program, machine);
      if (sums.empty() || sums.back().name != program->name()) sums.push_back({program->name(), 0, 0, {}});
      Sum& sum = sums.back();
      ++sum.times;
      sum.seconds += report.seconds;
      sum.lanes.resize(report.lanes.size());
      for (std::size_t i = 0; i < report.lanes.size(); ++i)
        sum.lanes[i].first = report.lanes[i].name, sum.lanes[i].second += report.lanes[i].busy_s;
      seconds += report.seconds;
      roof_seconds += static_cast<double>(report.hbm_read_bytes + report.hbm_write_bytes) / machine.dma_bytes_per_s();
    }
    for (const Sum& sum : sums) {
      const auto busiest = std::max_element(sum.lanes.begin(), sum.lanes.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
      r.note += fmt::format("{}{}{} {:.1f} us, {} {:.0f} % busy", r.note.empty() ? "" : "; ",
                            sum.times > 1 ? fmt::format("{} ", sum.times) : "", sum.name, 1e6 * sum.seconds,
                            busiest->first, 100 * busiest->second / sum.seconds);
    }
    r.note += fmt::format("; bytes moved at {:.0f} % of the DMA roof", 100 * roof_seconds / seconds);
    return seconds;
  }
  void add_common(Options& options) {
    options.number("--batch", batch_, "how many at once");
    options.text("--dtype", dtype_, "fp32 or fp64 (of the real parts)").completes({"fp32", "fp64"});
  }

  std::int64_t batch_ = 64;
  std::string dtype_ = "fp32", precision_ = "native";
};

}  // namespace trn::tools::fft_rows
