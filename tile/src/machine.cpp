// The machine tables: trn1, trn2, trn3, a source beside every number.
//
// Sources: ARCH2/3/4 = AWS's NKI architecture guides for trainium_inferentia2 / trainium2 / trainium3; HWC = nkipy's
// HardwareConstants.h; ISA = the nki.isa reference; DMAG = AWS's NKI DMA bandwidth guide; PERF = the NKI performance
// guide; NED = the Neuron Explorer documentation; PANTH = pantheonneuron's published trn1 logs; "fit" = our fit to the
// published measurements that `trnsci validate` prints, explained in docs/simulator.md. "scaled" = no measurement exists:
// the trn2 value moved by the ratio of clocks or widths.
#include <trn/tile/machine.hpp>

#include <array>

#include <trn/core/error.hpp>

namespace trn::tile {

namespace {

constexpr std::int64_t kKiB = 1024, kGiB = 1024 * 1024 * 1024;
constexpr double kNano = 1e-9, kMicro = 1e-6, kGiga = 1e9;

// Facts that all three generations share.
constexpr Machine common() {
  Machine m{};
  m.partitions = 128;            // ARCH2: SBUF and PSUM have 128 partitions, the array is 128 x 128
  m.stationary_free_max = 128;   // ISA nc_matmul
  m.moving_free_max = 512;       // ISA nc_matmul
  m.psum_bank_bytes = 2 * kKiB;  // ARCH2: 8 banks of 2 KiB per partition
  m.psum_banks = 8;
  m.vector_free_max_sbuf = 64 * 1024;  // ARCH2
  m.vector_free_max_psum = 4 * 1024;   // ARCH2
  m.gpsimd_cores = 8;                  // ARCH2: processor i serves partitions 16i .. 16i+15
  m.dense_stride_bytes = 16;           // ARCH2: more than 16 bytes halves the bandwidth
  m.free_dims_max = 4;                 // nki access patterns: up to 4 free dimensions
  m.free_dims_max_two_inputs = 3;      // ISA: tensor_tensor and its like take 1 to 3 free dimensions
  m.gather_indices_max = 4096;         // ISA local_gather
  m.gather_elements_max = 32;          // ISA local_gather
  m.dma_engines = 16;                  // ARCH2/3/4: per core
  return m;
}

// Timing of trn2: fitted to, or read off, published trn2 measurements; the other machines start from it.
constexpr Timing trn2_timing() {
  Timing t{};
  t.launch_s = 13.3 * kMicro;        // fit: 12.4 to 13.3 us outside every engine in published trn2 profiles
  t.semaphore_s = 50 * kNano;        // not published; results move by about 1 % when it is doubled
  t.matmul_overhead_cycles = 9.7;    // fit: 2048 resident matmuls in 445 us, 521.6 cycles each
  t.matmul_min_cycles = 64;          // ISA: max(min(64, stationary), moving)
  t.fp32_passes = 2;                 // published profile: two multiply instructions per fp32 nc_matmul
  t.fp32_factor = 2;
  t.fp32_overhead_cycles = 7;        // fit: 859 ns per 128 x 128 x 512
  t.tensor_latency_s = 160 * kNano;  // read off published traces
  t.limiter_window_s = 3 * kMicro;   // NED, "Understanding throttling": starts at about 50 %, ramps over about 3 us
  t.limiter_cold_rate = 0.5;
  t.limiter_warm_use = 0.9;          // fit: 2048^3 naive runs cold throughout
  t.limiter_cold_use = 0.5;          // NED: re-engages below 50 % over about 3 us
  t.tensor_sustained_rate = 1.0;
  t.engine_min_cycles = 64;          // ISA tag v2.26.1: MIN_II
  t.vector_fixed_s = 150 * kNano;    // fit: 140 to 190 ns
  t.vector_latency_s = 50 * kNano;   // choice
  t.scalar_fixed_s = 110 * kNano;    // fit: 221 ns per 128-element copy
  t.scalar_latency_s = 100 * kNano;  // choice
  t.gpsimd_start_cycles = 150;       // ISA tag v2.26.1: GPSIMD_START
  t.gpsimd_latency_s = 100 * kNano;  // choice
  t.activation_table_s = 1.28 * kMicro;  // read off a published trn2 profile
  t.dma_start_s = 1.3 * kMicro;      // DMAG: about 1300 ns from semaphore to start
  t.dma_end_s = 0.6 * kMicro;        // fit: vector add; traces show 0.3
  t.dma_engine_bytes_per_s = 26 * kGiga;  // fit: a 4000-byte row in 157 ns
  t.dma_run_overhead_s = 5 * kNano;       // fit: 8 x 512 bytes in 173 to 190 ns
  t.dma_transpose_rate_2byte = 0.9;       // ISA: up to 90 % of DMA throughput, 2-byte types
  t.dma_transpose_rate_4byte = 0.45;      // choice: not published
  t.dge_static_s = 0.47 * kMicro;    // fit: 1024 x 1024 transpose, 64 loads
  t.dge_hardware_s = 0.68 * kMicro;  // documented about 0.6; fits lie between 0.61 and 0.76
  t.dge_software_s = 0.90 * kMicro;  // published trace: 0.88
  return t;
}

constexpr Machine trn1() {
  Machine m = common();
  m.name = "trn1";
  m.core = "NeuronCore-v2";
  m.tensor_hz = 2.8 * kGiga;   // ARCH2 tables
  m.vector_hz = 1.12 * kGiga;
  m.scalar_hz = 1.4 * kGiga;
  m.gpsimd_hz = 1.4 * kGiga;
  m.sbuf_bytes_per_partition = 180224;  // HWC
  m.hbm_bytes_per_chip = 32 * kGiB;     // ARCH2
  m.hbm_stacks = 2;                     // ARCH2
  m.cores_per_chip = 2;
  m.hbm_bytes_per_s_per_core = 410 * kGiga;  // profiler's denominator on trn1 (91.75e12 / 223.78)
  m.double_row = false;                 // ISA: gen3 and later
  m.pass_through_transpose = false;     // ISA: is_transpose is gen3 and later
  m.dma_transpose = false;              // documented as much slower before trn2
  m.hardware_dge = false;               // ARCH3: new there
  m.indirect_dma = false;               // ISA dma_copy: gen3 and later
  m.accumulate_onto_writes = false;     // ISA nc_matmul: undefined on gen2 and gen3
  m.float8_e4m3fn = false;              // gen4
  m.abs_max_min = false;                // gen4
  m.vector_gpsimd_share_port = true;    // ARCH2
  m.vector_scalar_share_psum = true;    // ARCH2
  m.square_relu_in_tensor_scalar = false;  // RN 0.4: trn3
  m.activation_bias_immediate = false;  // ARCH3: scalar bias is new there
  m.matmul_spans_banks = false;
  m.scalar_tensor_copy = false;         // ARCH3: new there
  m.vector_elements_per_cycle_fp32 = 1;   // ARCH2: 128 elements per cycle over 128 lanes
  m.vector_elements_per_cycle_16bit = 1;
  m.vector_pairs_per_cycle_16bit = 1;     // ISA tag v2.26.1: N cycles for two bf16 inputs, 2N for fp32
  m.timing = trn2_timing();
  m.timing.limiter_cold_rate = 1.0;         // PANTH: trn1 caps the sustained rate instead
  m.timing.tensor_sustained_rate = 0.86;    // PANTH: 78.6 of 91.75 TF sustained
  m.timing.dma_engine_bytes_per_s = 17.2 * kGiga;  // PANTH: 273 to 275 GB/s streaming over 16 engines; DMAG: 272
  m.timing.dma_run_overhead_s = 0;
  m.timing.dma_transpose_rate_2byte = 0.1;  // documented as much slower before trn2; the factor is a choice
  m.timing.dma_transpose_rate_4byte = 0.05;
  m.timing.dge_static_s = 0.60 * kMicro;    // fit: 8192^3 GEMM with 256-byte rows, 0.596 us per load
  return m;
}

constexpr Machine trn2() {
  Machine m = common();
  m.name = "trn2";
  m.core = "NeuronCore-v3";
  m.tensor_hz = 2.4 * kGiga;   // ARCH3 tables
  m.vector_hz = 0.96 * kGiga;
  m.scalar_hz = 1.2 * kGiga;
  m.gpsimd_hz = 1.2 * kGiga;
  m.sbuf_bytes_per_partition = 212984;  // HWC
  m.hbm_bytes_per_chip = 96 * kGiB;     // ARCH3
  m.hbm_stacks = 4;                     // ARCH3; trn3 has as many
  m.cores_per_chip = 8;
  m.hbm_bytes_per_s_per_core = 716 * kGiga;  // profiler's denominator on trn2: one stack
  m.double_row = true;
  m.pass_through_transpose = true;
  m.dma_transpose = true;               // ISA dma_transpose: trn2 and later
  m.indirect_dma = true;
  m.accumulate_onto_writes = false;     // ISA nc_matmul: undefined on gen2 and gen3
  m.hardware_dge = true;                // two hardware descriptor generators per core
  m.float8_e4m3fn = false;
  m.abs_max_min = false;
  m.vector_gpsimd_share_port = false;   // ARCH3: lifted
  m.vector_scalar_share_psum = false;
  m.square_relu_in_tensor_scalar = false;
  m.activation_bias_immediate = true;
  m.matmul_spans_banks = false;
  m.scalar_tensor_copy = true;
  m.vector_elements_per_cycle_fp32 = 2;   // ARCH3: 256 elements per cycle; measured in published trn2 profiles
  m.vector_elements_per_cycle_16bit = 4;  // ARCH3: 512 elements per cycle for bf16/fp16
  m.vector_pairs_per_cycle_16bit = 2;     // ARCH3: tensor_tensor twice as fast when all operands are bf16/fp16
  m.timing = trn2_timing();
  return m;
}

constexpr Machine trn3() {
  Machine m = trn2();
  m.name = "trn3";
  m.core = "NeuronCore-v4";
  m.vector_hz = 1.2 * kGiga;   // ARCH4 tables; the other clocks equal trn2's
  m.moving_free_max = 4096;    // ISA nc_matmul on gen4, fp32 destination: spans PSUM banks
  m.sbuf_bytes_per_partition = 245752;  // HWC
  m.hbm_bytes_per_chip = 144 * kGiB;    // ARCH4
  m.hbm_bytes_per_s_per_core = 1200 * kGiga;  // 4.8 TB/s over 4 stacks, one stack per two cores as on trn2
  m.accumulate_onto_writes = true;      // ISA nc_matmul: the ban names gen2 and gen3 only
  m.float8_e4m3fn = true;
  m.abs_max_min = true;
  m.square_relu_in_tensor_scalar = true;
  m.matmul_spans_banks = true;          // ISA nc_matmul on gen4; ARCH4: bfloat16 accumulation
  m.timing.dma_engine_bytes_per_s = 26 * kGiga * 33 / 23;  // scaled by DMAG's achievable 33 against 23 B/ns
  return m;
}

const std::array<Machine, 3>& table() {
  static constexpr std::array<Machine, 3> machines{trn1(), trn2(), trn3()};
  return machines;
}

}  // namespace

double Machine::tensor_flops(DType dtype) const {
  const double bf16 = 2.0 * static_cast<double>(partitions) * static_cast<double>(stationary_free_max) * tensor_hz;
  if (dtype == DType::Float32) return bf16 / 4;
  if (is_fp8(dtype) && double_row) return bf16 * 2;
  return bf16;
}

double Machine::dma_bytes_per_s() const { return static_cast<double>(dma_engines) * timing.dma_engine_bytes_per_s; }

std::span<const Machine> machines() { return table(); }

const Machine& machine(std::string_view wanted) {
  std::string known;
  for (const Machine& m : table()) {
    if (m.name == wanted) return m;
    known += known.empty() ? std::string(m.name) : fmt::format(", {}", m.name);
  }
  fail<InvalidArgument>("machine: '{}' is not known; choose one of {}", wanted, known);
}

}  // namespace trn::tile
