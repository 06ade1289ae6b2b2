// The validation table: every published measurement with the program that stands for it, the modelled time beside it.
#include <algorithm>
#include <functional>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>

#include "published.hpp"

namespace trn::neuron {

using namespace trn::tile;
using namespace trn::neuron::validation;

namespace {

struct Published {
  std::string name;
  std::string machine;
  std::string source;
  Quantity quantity;
  double measured_us;
  bool goal;
  std::function<Program(const Machine&)> build;
  std::string note;
};

constexpr auto kBf16 = DType::BFloat16, kFp32 = DType::Float32;
constexpr MatmulShape k2048{kBf16, 2048, 2048, 2048}, k4096{kBf16, 4096, 4096, 4096},
    kTutorial{kFp32, 4096, 8192, 8192};

// Microseconds of a square product of this size at a published rate.
double square_us(double size, double teraflops) { return 2 * size * size * size / (teraflops * 1e6); }

const char* const kSkills = "aws-neuron/neuron-agentic-development, neuron-nki-profile-querying";
const char* const kTutorialPage = "AWS Neuron SDK, NKI tutorial kernel-optimization";
const char* const kAutotune = "awslabs/nki-autotune, kernel_library and learnings";
const char* const kCourse = "github rishic3/asst4-trainium2, profiler dumps";
const char* const kWriteup = "github xaviergonzalez/asst4-trainium2, writeup";
const char* const kPantheon = "pantheongpu/pantheonneuron, trn1 publication";
const char* const kHandout = "Stanford CS149 2024 handout, trn1.2xlarge";

using Q = Quantity;

std::vector<Published> trn2_goals() {
  return {
      {"4096^3 bf16 V0, loads in the inner loop", "trn2", kSkills, Q::Total, 8602, true,
       [](const Machine& m) { return naive_matmul(m, k4096, {.a_serves = 3, .b_serves = 1}); },
       "the published traffic is 3 passes over A, not the literal 8: a tile of A serves 3 columns"},
      {"4096^3 bf16 V1, blocked 8 x 2", "trn2", kSkills, Q::Total, 2451, true,
       [](const Machine& m) {
         return blocked_matmul(m, k4096, {.bm = 8, .bn = 2, .load = LoadWidth::Tile, .b_buffers = 2});
       },
       "one block of A and two of B on chip"},
      {"4096^3 bf16 V2, blocked with row loads", "trn2", kSkills, Q::Total, 1801, true,
       [](const Machine& m) {
         return blocked_matmul(m, k4096, {.bm = 8, .bn = 2, .load = LoadWidth::Block, .b_buffers = 2});
       },
       "the profile shows less waiting at block borders: its compiler probably runs k outermost over the banks"},
      {"2048^3 bf16 naive, A transposed before", "trn2", kSkills, Q::Total, 608, true,
       [](const Machine& m) { return naive_matmul(m, k2048, {.a_serves = 4, .b_serves = 2}); },
       "no traffic was published; reuse inferred from V0's: a tile is kept when needed again within 96 matmuls"},
      {"2048^3 bf16 best hand kernel", "trn2", kAutotune, Q::Total, 240, true, hand_matmul_2048,
       "as its source; PSUM is overwritten by the first matmul instead of cleared"},
      {"4096x8192x8192 fp32 tiled", "trn2", kTutorialPage, Q::Total, 39890, true,
       [](const Machine& m) { return streamed_matmul(m, kTutorial); },
       "both operands loaded for every matmul, as the published traffic shows"},
      {"4096x8192x8192 fp32 fully blocked", "trn2", kTutorialPage, Q::Total, 28300, true,
       [](const Machine& m) {
         return fully_blocked_matmul(m, kTutorial, {.bm = 4, .bn = 2, .bk = 8, .a_buffers = 2, .b_buffers = 1});
       },
       "published blocks 16/2/8 need 224 KiB per partition, more than the usable 212984 bytes; A comes in blocks of 4 "
       "tiles"},
      {"2048 matmuls on resident operands", "trn2", kSkills, Q::TensorActive, 445, true,
       [](const Machine& m) { return resident_matmuls(m, {{.count = 2048}}); }, ""},
      {"16 loads and stores of 128 x 1 KiB", "trn2", kSkills, Q::DmaActive, 16, true,
       [](const Machine& m) { return descriptor_sources(m, 512); },
       "every descriptor source in turn, and 12 small DMAs"},
      {"16 loads and stores of 128 x 4 KiB", "trn2", kSkills, Q::DmaActive, 47, true,
       [](const Machine& m) { return descriptor_sources(m, 2048); }, "as above"},
      {"vector add of 256000, 2 x (128, 1000)", "trn2", kCourse, Q::Total, 27.86, true,
       [](const Machine& m) { return vector_add(m, 2, 1000); }, ""},
      {"vector add of 256000, (128, 2000)", "trn2", kCourse, Q::Total, 28.36, true,
       [](const Machine& m) { return vector_add(m, 1, 2000); }, ""},
      {"transpose of 1024^2 fp32", "trn2", kCourse, Q::Total, 46.85, true, transpose_1024, "8 buffers of everything"},
  };
}

std::vector<Published> trn1_goals() {
  return {{"8192^3 bf16 sustained, A 8 tiles wide", "trn1", kPantheon, Q::Total, square_us(8192, 78.6), true,
           [](const Machine& m) { return wide_matmul(m, 8192, 8, Right::Resident); },
           "from the published rate of 78.6 TF"}};
}

std::vector<Published> trn2_others() {
  return {
      {"2048 matmuls of mixed sizes", "trn2", kSkills, Q::TensorActive, 453, false,
       [](const Machine& m) {
         return resident_matmuls(
             m, {{.m = 32, .count = 512}, {.n = 64, .count = 512}, {.k = 32, .count = 512}, {.count = 512}});
       },
       "512 each of M = 32, N = 64, K = 32 and full; K = 32 keeps the array cold"},
      {"4096x8192x8192 fp32 hoisted (v3)", "trn2", kTutorialPage, Q::Total, 28200, false,
       [](const Machine& m) { return blocked_matmul(m, kTutorial, {.bm = 1, .bn = 1}); }, ""},
      {"4096x8192x8192 fp32 blocked (v4)", "trn2", kTutorialPage, Q::Total, 28410, false,
       [](const Machine& m) { return blocked_matmul(m, kTutorial, {.bm = 2, .bn = 1}); },
       "published blocks 2 x 2 do not fit in SBUF; 2 x 1 here"},
      {"2048^3 bf16 naive, transposing in program order", "trn2", kSkills, Q::Total, 802, false,
       [](const Machine& m) { return naive_matmul_transposing(m, k2048, TransposeAhead::None); },
       "the compiler's software pipelining is not published: program order bounds it from above"},
      {"2048^3 bf16 naive, transposing one tile ahead", "trn2", kSkills, Q::Total, 802, false,
       [](const Machine& m) { return naive_matmul_transposing(m, k2048, TransposeAhead::One); },
       "the same measurement, bounded from below"},
      {"2048^3 bf16 loads in the inner loop", "trn2", kAutotune, Q::Total, 1365, false,
       [](const Machine& m) { return streamed_matmul(m, k2048); }, "time derived from a published utilisation"},
      {"2048^3 bf16 hoisted, one accumulator", "trn2", kAutotune, Q::Total, 370, false,
       [](const Machine& m) { return hoisted_matmul_2048(m, 1); },
       "structure inferred from its description; PSUM is not cleared"},
      {"2048^3 bf16 hoisted, two accumulators", "trn2", kAutotune, Q::Total, 261, false,
       [](const Machine& m) { return hoisted_matmul_2048(m, 2); }, "structure inferred from its description"},
      {"2048^3 bf16 tutorial blocks 4/1/8", "trn2", kAutotune, Q::Total, 276, false,
       [](const Machine& m) { return fully_blocked_matmul(m, k2048, {.bm = 4, .bn = 1, .bk = 8}); }, ""},
      {"2048^3 bf16 tutorial blocks 16/2/8", "trn2", kAutotune, Q::Total, 361, false,
       [](const Machine& m) { return fully_blocked_matmul(m, k2048, {.bm = 16, .bn = 2, .bk = 8}); },
       "the whole of M is one block: the real kernel exposes more of its load and store phases"},
      {"vector add of 25600, 200 x (128, 1)", "trn2", kWriteup, Q::Total, 378, false,
       [](const Machine& m) { return vector_add(m, 200, 1); },
       "4-byte rows: decided by the unknown number of buffers; 1 instead of 2 gives a ratio above 1"},
      {"vector add of 25600, 100 x (128, 2)", "trn2", kWriteup, Q::Total, 186, false,
       [](const Machine& m) { return vector_add(m, 100, 2); }, "8-byte rows: as above"},
      {"vector add of 25600, (128, 200)", "trn2", kWriteup, Q::Total, 15, false,
       [](const Machine& m) { return vector_add(m, 1, 200); },
       "measured by another tool (nki.benchmark), below our launch time plus one DMA latency"},
  };
}

std::vector<Published> trn1_others() {
  return {
      {"8192^3 bf16, A 4 tiles wide", "trn1", kPantheon, Q::Total, square_us(8192, 70.42), false,
       [](const Machine& m) { return wide_matmul(m, 8192, 4, Right::Resident); }, "from a published rate"},
      {"8192^3 bf16, A 1 tile wide", "trn1", kPantheon, Q::Total, square_us(8192, 28.16), false,
       [](const Machine& m) { return wide_matmul(m, 8192, 1, Right::Resident); }, "from a published rate"},
      {"8192^3 bf16, A and B streamed", "trn1", kPantheon, Q::Total, square_us(8192, 26.4), false,
       [](const Machine& m) { return wide_matmul(m, 8192, 1, Right::Streamed); }, "from a published rate"},
      {"vector add of 25600, 200 x (128, 1)", "trn1", kHandout, Q::Total, 206, false,
       [](const Machine& m) { return vector_add(m, 200, 1); }, "4-byte rows: decided by the unknown number of buffers"},
      {"vector add of 25600, (128, 200)", "trn1", kHandout, Q::Total, 19, false,
       [](const Machine& m) { return vector_add(m, 1, 200); }, ""},
      {"vector add of 256000, (128, 2000)", "trn1", kHandout, Q::Total, 34, false,
       [](const Machine& m) { return vector_add(m, 1, 2000); }, ""},
      {"vector add of 256000, 2 x (128, 1000)", "trn1", kHandout, Q::Total, 29.5, false,
       [](const Machine& m) { return vector_add(m, 2, 1000); }, "published as 29 to 30 us"},
  };
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

double modelled_seconds(const Published& row) {
  const Machine& m = machine(row.machine);
  const Program program = row.build(m);
  switch (row.quantity) {
    case Q::Total:
      return estimate(program, m).seconds;
    case Q::DmaActive:
      return estimate(program, m).dma_active_seconds;
    case Q::TensorActive:
      return tensor_span(estimate(program, m, {.keep_intervals = program.dynamic_instructions()}));
  }
  fail<InternalError>("validation: unknown quantity");
}

}  // namespace

std::vector<ValidationRow> validate_timing() {
  std::vector<ValidationRow> table;
  for (const auto& group : {trn2_goals(), trn1_goals(), trn2_others(), trn1_others()}) {
    for (const Published& row : group) {
      table.push_back({row.name, row.machine, row.source, row.quantity, row.measured_us, modelled_seconds(row) * 1e6,
                       row.goal, row.note});
    }
  }
  return table;
}

}  // namespace trn::neuron
