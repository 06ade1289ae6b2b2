// The validation table: every published measurement with the program that stands for it, the modelled time beside it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>
#include <trn/tile/reorder.hpp>

#include "published.hpp"
#include "replay.hpp"

namespace trn::neuron {

using namespace trn::tile;
using namespace trn::neuron::validation;

namespace {

struct Published {
  std::string name;
  std::string machine;
  std::string source;
  Quantity quantity;
  RowKind kind;
  double measured_us;
  std::function<std::vector<Program>(const Machine&)> build;  // the measurement is the sum over these
  std::string note;
};

constexpr auto kBf16 = DType::BFloat16, kFp16 = DType::Float16, kFp32 = DType::Float32;
constexpr MatmulShape k2048{kBf16, 2048, 2048, 2048}, k4096{kBf16, 4096, 4096, 4096},
    kTutorial{kFp32, 4096, 8192, 8192}, kTutorialTrn1{kBf16, 4096, 8192, 8192};

// Microseconds of a square product of this size at a published rate.
double square_us(double size, double teraflops) { return 2 * size * size * size / (teraflops * 1e6); }

const char* const kSkills = "aws-neuron/neuron-agentic-development, neuron-nki-profile-querying";
const char* const kTutorialPage = "AWS Neuron SDK, NKI tutorial kernel-optimization";
const char* const kMatmulPage = "AWS Neuron SDK, NKI tutorial matrix_multiplication";
const char* const kMambaPage = "AWS Neuron SDK, NKI tutorial fused_mamba";
const char* const kAutotune = "awslabs/nki-autotune, kernel_library and learnings";
const char* const kCourse = "github rishic3/asst4-trainium2, profiler dumps";
const char* const kWriteup = "github xaviergonzalez/asst4-trainium2, writeup";
const char* const kFusion = "github allenkchau/trainium-kernel-fusion, profiling";
const char* const kBench = "zhang677/AccelOpt, NKIBench, arXiv 2511.15915";
const char* const kPantheon = "pantheongpu/pantheonneuron, trn1 publication";
const char* const kHandout = "Stanford CS149 2024 handout, trn1.2xlarge";

using Q = Quantity;
using enum RowKind;

// A row whose measurement is one program's time.
template <class Build> auto one(Build build) {
  return [build](const Machine& m) {
    std::vector<Program> programs;
    programs.push_back(build(m));
    return programs;
  };
}

// The rows on which constants were chosen: for every constant that no instruction-level profile shows, the smallest
// published kernel that it decides. docs/simulator.md names the constant of each.
std::vector<Published> fitted_rows() {
  return {
      {"2048 matmuls on resident operands", "trn2", kSkills, Q::TensorActive, Fitted, 445,
       one([](const Machine& m) { return resident_matmuls(m, {{.count = 2048}}); }), ""},
      {"4096x8192x8192 fp32 fully blocked", "trn2", kTutorialPage, Q::Total, Fitted, 28300, one([](const Machine& m) {
         return fully_blocked_matmul(m, kTutorial, {.bm = 4, .bn = 2, .bk = 8, .a_buffers = 2, .b_buffers = 1});
       }),
       "published blocks 16/2/8 need 224 KiB per partition, more than the usable 212984 bytes; A comes in blocks of 4 "
       "tiles"},
      {"8192^3 bf16 sustained, A 8 tiles wide", "trn1", kPantheon, Q::Total, Fitted, square_us(8192, 78.6),
       one([](const Machine& m) { return wide_matmul(m, 8192, 8, Right::Resident); }),
       "from the published rate of 78.6 TF"},
      {"8192^3 bf16, A 1 tile wide", "trn1", kPantheon, Q::Total, Fitted, square_us(8192, 28.16),
       one([](const Machine& m) { return wide_matmul(m, 8192, 1, Right::Resident); }), "from a published rate"},
      {"4096x8192x8192 bf16 hoisted", "trn1", kMatmulPage, Q::Latency, Fitted, 42960,
       one([](const Machine& m) { return blocked_matmul(m, kTutorialTrn1, {.bm = 1, .bn = 1}); }), ""},
      {"4096^3 bf16, A 1 tile wide", "trn1", kPantheon, Q::Total, Fitted, square_us(4096, 38.8),
       one([](const Machine& m) { return wide_matmul(m, 4096, 1, Right::Resident); }), "from a published rate"},
      {"vector add of 25600, 200 x (128, 1)", "trn1", kHandout, Q::Latency, Fitted, 206,
       one([](const Machine& m) { return vector_add(m, 200, 1); }), "4-byte rows"},
      {"vector add of 25600, (128, 200)", "trn1", kHandout, Q::Latency, Fitted, 19,
       one([](const Machine& m) { return vector_add(m, 1, 200); }), ""},
  };
}

std::vector<Published> trn2_matmuls() {
  return {
      {"2048^3 bf16 naive, A transposed before", "trn2", kSkills, Q::Total, Predicted, 608,
       one([](const Machine& m) { return naive_matmul(m, k2048, {.a_serves = 4, .b_serves = 2}); }),
       "no traffic was published; reuse inferred from V0's: a tile is kept when needed again within 96 matmuls"},
      {"4096^3 bf16 V0, loads in the inner loop", "trn2", kSkills, Q::Total, Predicted, 8602,
       one([](const Machine& m) { return naive_matmul(m, k4096, {.a_serves = 3, .b_serves = 1}); }),
       "the published traffic is 3 passes over A, not the literal 8: a tile of A serves 3 columns"},
      {"4096x8192x8192 fp32 tiled", "trn2", kTutorialPage, Q::Total, Predicted, 39890,
       one([](const Machine& m) { return streamed_matmul(m, kTutorial); }),
       "both operands loaded for every matmul, as the published traffic shows"},
      {"4096^3 bf16 V1, blocked 8 x 2", "trn2", kSkills, Q::Total, Predicted, 2451, one([](const Machine& m) {
         return blocked_matmul(m, k4096, {.bm = 8, .bn = 2, .load = LoadWidth::Tile, .b_buffers = 2});
       }),
       "one block of A and two of B on chip"},
      {"4096^3 bf16 V2, blocked with row loads", "trn2", kSkills, Q::Total, Predicted, 1801, one([](const Machine& m) {
         return blocked_matmul(m, k4096, {.bm = 8, .bn = 2, .load = LoadWidth::Block, .b_buffers = 2});
       }),
       "the profile shows less waiting at block borders: its compiler probably runs k outermost over the banks"},
      {"2048^3 bf16 best hand kernel", "trn2", kAutotune, Q::Total, Predicted, 240, one(hand_matmul_2048),
       "as its source; PSUM is overwritten by the first matmul instead of cleared"},
      {"2048 matmuls of mixed sizes", "trn2", kSkills, Q::TensorActive, Predicted, 453, one([](const Machine& m) {
         return resident_matmuls(
             m, {{.m = 32, .count = 512}, {.n = 64, .count = 512}, {.k = 32, .count = 512}, {.count = 512}});
       }),
       "512 each of M = 32, N = 64, K = 32 and full; K = 32 keeps the array cold"},
      {"4096x8192x8192 fp32 hoisted (v3)", "trn2", kTutorialPage, Q::Total, Predicted, 28200,
       one([](const Machine& m) { return blocked_matmul(m, kTutorial, {.bm = 1, .bn = 1}); }), ""},
      {"4096x8192x8192 fp32 blocked (v4)", "trn2", kTutorialPage, Q::Total, Predicted, 28410,
       one([](const Machine& m) { return blocked_matmul(m, kTutorial, {.bm = 2, .bn = 1}); }),
       "published blocks 2 x 2 do not fit in SBUF; 2 x 1 here"},
      {"2048^3 bf16 naive, transposing in program order", "trn2", kSkills, Q::Total, Predicted, 802,
       one([](const Machine& m) { return naive_matmul_transposing(m, k2048, TransposeAhead::None); }),
       "the compiler's software pipelining is not published: program order bounds it from above"},
      {"2048^3 bf16 naive, transposing one tile ahead", "trn2", kSkills, Q::Total, Predicted, 802,
       one([](const Machine& m) { return naive_matmul_transposing(m, k2048, TransposeAhead::One); }),
       "the same measurement, bounded from below"},
      {"2048^3 bf16 loads in the inner loop", "trn2", kAutotune, Q::Total, Predicted, 1365,
       one([](const Machine& m) { return streamed_matmul(m, k2048); }), "time derived from a published utilisation"},
      {"2048^3 bf16 hoisted, one accumulator", "trn2", kAutotune, Q::Total, Predicted, 370,
       one([](const Machine& m) { return hoisted_matmul_2048(m, 1); }),
       "structure inferred from its description; PSUM is not cleared"},
      {"2048^3 bf16 hoisted, two accumulators", "trn2", kAutotune, Q::Total, Predicted, 261,
       one([](const Machine& m) { return hoisted_matmul_2048(m, 2); }), "structure inferred from its description"},
      {"2048^3 bf16 tutorial blocks 4/1/8", "trn2", kAutotune, Q::Total, Predicted, 276,
       one([](const Machine& m) { return fully_blocked_matmul(m, k2048, {.bm = 4, .bn = 1, .bk = 8}); }), ""},
      {"2048^3 bf16 tutorial blocks 16/2/8", "trn2", kAutotune, Q::Total, Predicted, 361,
       one([](const Machine& m) { return fully_blocked_matmul(m, k2048, {.bm = 16, .bn = 2, .bk = 8}); }),
       "the whole of M is one block: the real kernel exposes more of its load and store phases"},
  };
}

std::vector<Published> trn2_small() {
  return {
      {"16 loads and stores of 128 x 1 KiB", "trn2", kSkills, Q::DmaActive, Predicted, 16,
       one([](const Machine& m) { return descriptor_sources(m, 512); }),
       "every descriptor source in turn, and 12 small DMAs"},
      {"16 loads and stores of 128 x 4 KiB", "trn2", kSkills, Q::DmaActive, Predicted, 47,
       one([](const Machine& m) { return descriptor_sources(m, 2048); }), "as above"},
      {"vector add of 256000, 2 x (128, 1000)", "trn2", kCourse, Q::Total, Predicted, 27.86,
       one([](const Machine& m) { return vector_add(m, 2, 1000); }), ""},
      {"vector add of 256000, (128, 2000)", "trn2", kCourse, Q::Total, Predicted, 28.36,
       one([](const Machine& m) { return vector_add(m, 1, 2000); }), ""},
      {"transpose of 1024^2 fp32", "trn2", kCourse, Q::Total, Predicted, 46.85, one(transpose_1024),
       "8 buffers of everything"},
      {"vector add of 25600, 200 x (128, 1)", "trn2", kWriteup, Q::Latency, Predicted, 378,
       one([](const Machine& m) { return vector_add(m, 200, 1); }), "4-byte rows: 512 bytes stay on one DMA engine"},
      {"vector add of 25600, 100 x (128, 2)", "trn2", kWriteup, Q::Latency, Predicted, 186,
       one([](const Machine& m) { return vector_add(m, 100, 2); }), "8-byte rows: as above"},
      {"vector add of 25600, (128, 200)", "trn2", kWriteup, Q::Latency, Predicted, 15,
       one([](const Machine& m) { return vector_add(m, 1, 200); }), ""},
      {"convolution 3x3, 256 channels, 224^2, fp16", "trn2", kWriteup, Q::Latency, Predicted, 824,
       one([](const Machine& m) { return convolution(m, kFp16); }), "8 buffers of the input rows: inferred"},
      {"convolution 3x3, 256 channels, 224^2, fp32", "trn2", kWriteup, Q::Latency, Predicted, 3832,
       one([](const Machine& m) { return convolution(m, kFp32); }), "as above"},
  };
}

std::vector<Published> trn2_attention() {
  std::vector<Published> rows;
  const auto add = [&](const char* name, Attention kind, DType dtype, double measured_us) {
    rows.push_back({name, "trn2", kFusion, Q::Total, Predicted, measured_us,
                    one([=](const Machine& m) { return replay(m, name, attention_stream(kind, dtype)); }),
                    "the published instruction stream in the hardware's order"});
  };
  add("attention 512 x 128 fused fp32, replayed", Attention::Fused, kFp32, 38.09);
  add("attention 512 x 128 fused bf16, replayed", Attention::Fused, kBf16, 36.35);
  add("attention 512 x 128 in three steps fp32, replayed", Attention::Baseline, kFp32, 58.71);
  add("attention 512 x 128 in three steps bf16, replayed", Attention::Baseline, kBf16, 54.28);
  return rows;
}

std::vector<Published> trn2_gelu() {
  std::vector<Published> rows;
  struct Size {
    std::int64_t m, k, n;
    double fused_fp32, fused_bf16, apart_fp32, apart_bf16;  // published microseconds
  };
  const auto add = [&](const Size& s, DType dtype, bool fused, double measured_us) {
    const MatmulShape shape{dtype, s.m, s.n, s.k};
    const auto text = fmt::format("{}x{}x{} {} + GELU, {}", s.m, s.k, s.n, dtype == kFp32 ? "fp32" : "bf16",
                                  fused ? "fused" : "two kernels");
    const auto build = [=](const Machine& m) {
      std::vector<Program> programs;
      programs.push_back(gelu_matmul(m, shape, fused ? Activated::InPlace : Activated::Not));
      if (!fused) programs.push_back(gelu(m, shape));
      return programs;
    };
    rows.push_back({text, "trn2", kFusion, Q::Latency, Predicted, measured_us, build,
                    "every tile of the operands loaded once; descriptors by GpSimd, as in the profiles of its "
                    "neighbours; 65 triggers of "
                    "0.58 us decide the largest bf16 rows, and the compiler may have used fewer"});
  };
  for (const Size& s :
       {Size{128, 128, 512, 21, 19, 37, 34}, {256, 512, 1024, 40, 28, 59, 48}, {512, 1024, 2048, 150, 56, 182, 82}}) {
    add(s, kFp32, true, s.fused_fp32);
    add(s, kBf16, true, s.fused_bf16);
    add(s, kFp32, false, s.apart_fp32);
    add(s, kBf16, false, s.apart_bf16);
  }
  return rows;
}

std::vector<Published> trn1_matmuls() {
  return {
      {"8192^3 bf16, A 4 tiles wide", "trn1", kPantheon, Q::Total, Predicted, square_us(8192, 70.42),
       one([](const Machine& m) { return wide_matmul(m, 8192, 4, Right::Resident); }), "from a published rate"},
      {"8192^3 bf16, A and B streamed", "trn1", kPantheon, Q::Total, Predicted, square_us(8192, 26.4),
       one([](const Machine& m) { return wide_matmul(m, 8192, 1, Right::Streamed); }), "from a published rate"},
      {"4096^3 bf16, A 4 tiles wide", "trn1", kPantheon, Q::Total, Predicted, square_us(4096, 71.8),
       one([](const Machine& m) { return wide_matmul(m, 4096, 4, Right::Resident); }), "from a published rate"},
      {"4096^3 bf16, A and B streamed", "trn1", kPantheon, Q::Total, Predicted, square_us(4096, 36.6),
       one([](const Machine& m) { return wide_matmul(m, 4096, 1, Right::Streamed); }), "from a published rate"},
      {"4096x8192x8192 bf16 tiled", "trn1", kMatmulPage, Q::Latency, Predicted, 51800,
       one([](const Machine& m) { return streamed_matmul(m, kTutorialTrn1); }), ""},
      {"4096x8192x8192 bf16 blocked 2 x 2", "trn1", kMatmulPage, Q::Latency, Predicted, 22070,
       one([](const Machine& m) { return blocked_matmul(m, kTutorialTrn1, {.bm = 2, .bn = 2}); }), ""},
      {"4096x8192x8192 bf16 fully blocked", "trn1", kMatmulPage, Q::Latency, Predicted, 6970,
       one([](const Machine& m) { return fully_blocked_matmul(m, kTutorialTrn1, {.bm = 16, .bn = 2, .bk = 8}); }), ""},
  };
}

std::vector<Published> trn1_small() {
  return {
      {"vector add of 25600, 100 x (128, 2)", "trn1", kHandout, Q::Latency, Predicted, 53,
       one([](const Machine& m) { return vector_add(m, 100, 2); }),
       "8-byte rows move in less than half of the time of 4-byte rows on the same machine: not understood"},
      {"vector add of 256000, (128, 2000)", "trn1", kHandout, Q::Latency, Predicted, 34,
       one([](const Machine& m) { return vector_add(m, 1, 2000); }), ""},
      {"vector add of 256000, 2 x (128, 1000)", "trn1", kHandout, Q::Latency, Predicted, 29.5,
       one([](const Machine& m) { return vector_add(m, 2, 1000); }), "published as 29 to 30 us"},
      {"rotary embedding of (128, 262144) fp32", "trn1", kBench, Q::Total, Predicted, 4333,
       one([](const Machine& m) { return rotary(m, 64 * 4096); }), "two buffers of everything: inferred"},
  };
}

std::vector<Published> trn1_mamba() {
  std::vector<Published> rows;
  const auto add = [&](const std::string& name, double measured_us, auto build, const char* note) {
    rows.push_back({name, "trn1", kMambaPage, Q::Total, Predicted, measured_us, one(build), note});
  };
  add(
      "Mamba v1, 256 channels x 512", 172.93,
      [](const Machine& m) { return mamba_v1(m, {.channels = 256, .length = 512}, 1); }, "");
  add(
      "Mamba v1, 4096 channels x 512", 2340,
      [](const Machine& m) { return mamba_v1(m, {.channels = 4096, .length = 512}, 8); },
      "delta and u loaded 8 times, published as about 7");
  const char* const copied = "the spread rows of B and C are copied to SBUF: inferred from the Vector Engine's share";
  const double v2[] = {1600, 4400, 8900, 13100, 17600, 23700};  // lengths 512, 1024, 2048, 3072, ...
  const double v3[] = {1600, 3300, 6600, 10100, 13300, 17300, 19600, 24200, 27800};
  const auto length = [](std::size_t i) { return i == 0 ? 512 : 1024 * static_cast<std::int64_t>(i); };
  for (std::size_t i = 0; i < std::size(v2); ++i) {
    add(
        fmt::format("Mamba v2, 4096 channels x {}", length(i)), v2[i],
        [n = length(i)](const Machine& m) { return mamba_v2(m, {.channels = 4096, .length = n}); },
        i == 0 ? "" : copied);
  }
  for (std::size_t i = 0; i < std::size(v3); ++i) {
    add(
        fmt::format("Mamba v3, 4096 channels x {}", length(i)), v3[i],
        [n = length(i)](const Machine& m) { return mamba_v3(m, {.channels = 4096, .length = n}); }, "");
  }
  return rows;
}

// From the first matmul's start to the last one's end.
double tensor_span(const RunReport& report) {
  double begin = report.seconds, end = 0;
  for (const Interval& i : report.intervals) {
    if (report.lanes[static_cast<std::size_t>(i.lane)].name != "tensor") continue;
    begin = std::min(begin, i.begin_s);
    end = std::max(end, i.end_s);
  }
  return end - begin;
}

double modelled_seconds(const Published& row, const Program& program, const Machine& m) {
  switch (row.quantity) {
    case Q::Total:
      return estimate(program, m).seconds;
    case Q::Latency:
      return estimate(program, m).benchmark_seconds;
    case Q::DmaActive:
      return estimate(program, m).dma_active_seconds;
    case Q::TensorActive:
      return tensor_span(estimate(program, m, {.keep_intervals = program.dynamic_instructions()}));
  }
  fail<InternalError>("validation: unknown quantity");
}

// Programs up to this many executed instructions are also reordered.
constexpr std::int64_t kReordered = 6000;

ValidationRow row_of(const Published& p) {
  const Machine& m = machine(p.machine);
  ValidationRow row{p.name, p.machine, p.source, p.quantity, p.kind, p.measured_us, 0, 0, p.note};
  bool reordered = true;
  for (const Program& program : p.build(m)) {
    row.modelled_us += modelled_seconds(p, program, m) * 1e6;
    reordered = reordered && program.dynamic_instructions() <= kReordered;
    if (reordered) row.reordered_us += modelled_seconds(p, reorder(program, m), m) * 1e6;
  }
  if (!reordered) row.reordered_us = 0;
  return row;
}

}  // namespace

std::string_view name(RowKind kind) { return kind == Fitted ? "fitted" : "predicted"; }

std::vector<ValidationRow> validate_timing() {
  std::vector<ValidationRow> table;
  for (const auto& group : {fitted_rows(), trn2_matmuls(), trn2_small(), trn2_attention(), trn2_gelu(), trn1_matmuls(),
                            trn1_small(), trn1_mamba()}) {
    for (const Published& row : group) table.push_back(row_of(row));
  }
  return table;
}

std::vector<ValidationPrograms> validation_programs(std::string_view wanted) {
  std::vector<ValidationPrograms> all;
  for (const auto& group : {fitted_rows(), trn2_matmuls(), trn2_small(), trn2_attention(), trn2_gelu(), trn1_matmuls(),
                            trn1_small(), trn1_mamba()}) {
    for (const Published& row : group) {
      if (row.machine != wanted || (row.quantity != Q::Total && row.quantity != Q::Latency)) continue;
      all.push_back({row.name, row.measured_us, row.build(machine(row.machine))});
    }
  }
  return all;
}

Deviation deviation(const std::vector<ValidationRow>& rows, RowKind kind) {
  std::vector<double> off;
  for (const ValidationRow& row : rows) {
    if (row.kind == kind) off.push_back(std::abs(row.ratio() - 1));
  }
  if (off.empty()) return {};
  std::ranges::sort(off);
  return {static_cast<int>(off.size()), (off[off.size() / 2] + off[(off.size() - 1) / 2]) / 2, off.back()};
}

}  // namespace trn::neuron
