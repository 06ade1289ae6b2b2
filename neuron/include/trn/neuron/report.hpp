// RunReport: what one modelled run of a program cost, and the pictures of it. All times are modelled, never measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <trn/tile/machine.hpp>

namespace trn::neuron {

// One row of the timeline: the engines "tensor", "vector", "scalar", "gpsimd", then one row per DMA ring in use.
struct Lane {
  std::string name;
  double busy_s = 0;  // instructions never overlap within a lane
  std::int64_t instructions = 0;
};

struct Interval {
  std::int32_t lane;         // index into RunReport::lanes
  std::int32_t instruction;  // index into the program
  double begin_s, end_s;
};

struct ReportOptions {
  std::int64_t keep_intervals = 0;  // how many timeline intervals to keep for the trace and the picture
};

struct RunReport {
  std::string program;
  std::string machine;
  double seconds = 0;            // modelled, as a profiler's total: launch and finish included
  double launch_seconds = 0;     // before the first instruction
  double finish_seconds = 0;     // after the last result
  double benchmark_seconds = 0;  // modelled, as the latency that nki.benchmark reports
  std::vector<Lane> lanes;
  double dma_active_seconds = 0;  // some transfer under way
  std::int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  std::int64_t instructions = 0;
  double matmul_flops = 0;       // 2*K*M*N of every matmul that is not a transpose
  double tensor_peak_flops = 0;  // of the dtype that the matmuls use
  double throttled_seconds = 0;  // Tensor Engine running below its full rate
  std::int64_t sbuf_bytes_per_partition = 0, psum_bytes_per_partition = 0;
  std::vector<Interval> intervals;            // the first ReportOptions::keep_intervals
  std::vector<std::string> instruction_text;  // by instruction index, when intervals were kept

  // Busy share of a lane; 0 when the program has no such lane.
  [[nodiscard]] double utilisation(std::string_view lane) const;
  [[nodiscard]] double tensor_roof_fraction() const;  // matmul_flops / seconds / peak
};

// Chrome/Perfetto trace events as JSON. Throws InvalidArgument when the path cannot be written.
void write_trace(const RunReport& report, const std::string& path);
// What an application puts on top of a run's page: tables of text.
struct PageTable {
  std::string title, note;
  std::vector<std::vector<std::string>> rows;  // the first is the header
};

// One self-contained HTML page: the application's tables, then timeline, utilisation, bytes moved, roofline.
void write_html(const RunReport& report, const tile::Machine& machine, const std::string& path,
                const std::vector<PageTable>& tables = {});

}  // namespace trn::neuron
