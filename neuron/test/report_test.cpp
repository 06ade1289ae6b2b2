// The run report: its ratios, the trace as a JSON reader sees it, the page as text, and files that appear whole or not
// at all. Reports are written by hand, so every expected number can be recomputed from the lines here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <trn/core/error.hpp>
#include <trn/neuron/report.hpp>
#include <vector>

#include "report/format.hpp"
#include "report/html_parts.hpp"
#include "report/summary.hpp"

namespace trn::neuron {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// An empty folder of its own for every test.
class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("trn_report_{}_{}", getpid(), test->name());
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string read(const std::string& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string page(const RunReport& report) const {
    write_html(report, tile::machine("trn2"), path("page.html"));
    return read(path("page.html"));
  }
  json trace(const RunReport& report) const {
    write_trace(report, path("trace.json"));
    return json::parse(read(path("trace.json")));
  }

  fs::path folder_;
};

// 100 us with 10 us of launch; half of the 78.6 TF/s that trn2 has for bf16.
RunReport small_report() {
  RunReport r;
  r.program = "gemm";
  r.machine = "trn2";
  r.seconds = 100e-6;
  r.launch_seconds = 10e-6;
  r.lanes = {{"tensor", 45e-6, 2}, {"vector", 5e-6, 1}, {"scalar"}, {"gpsimd"}, {"dma load", 20e-6, 1}};
  r.dma_active_seconds = 20e-6;
  r.hbm_read_bytes = 4'000'000;
  r.hbm_write_bytes = 1'000'000;
  r.instructions = 4;
  r.tensor_peak_flops = tile::machine("trn2").tensor_flops(DType::BFloat16);
  r.matmul_flops = r.tensor_peak_flops * r.seconds / 2;
  r.throttled_seconds = 3e-6;
  r.sbuf_bytes_per_partition = 106492;  // half of trn2's
  r.psum_bytes_per_partition = 4096;    // a quarter
  // Out of order on purpose: a writer sorts each lane.
  r.intervals = {{4, 0, 0, 20e-6}, {0, 1, 60e-6, 85e-6}, {0, 1, 20e-6, 40e-6}, {1, 2, 85e-6, 90e-6}};
  r.instruction_text = {"dma dma_copy dst=a[0:128] src=A[0:128]", "tensor nc_matmul dst=acc stationary=a moving=b",
                        "vector tensor_copy dst=c src=acc"};
  return r;
}

// `count` back-to-back instructions spread over `lanes` lanes, each with its own text of `text_bytes` bytes.
RunReport long_report(std::int64_t count, int lanes, std::size_t text_bytes) {
  RunReport r;
  r.program = "long";
  r.machine = "trn2";
  r.tensor_peak_flops = 1;
  for (int l = 0; l < lanes; ++l) r.lanes.push_back({fmt::format("dma load tensor_{}", l)});
  std::vector<double> now(r.lanes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto lane = static_cast<std::size_t>(i % lanes);
    const double begin = now[lane] + 1e-9 * static_cast<double>(1 + i * 7919 % 331);
    now[lane] = begin + 1e-9 * static_cast<double>(50 + i * 104729 % 977);
    r.lanes[lane].busy_s += now[lane] - begin;
    ++r.lanes[lane].instructions;
    r.intervals.push_back({static_cast<std::int32_t>(lane), static_cast<std::int32_t>(i), begin, now[lane]});
    std::string text = fmt::format("dma dma_copy dst=tile_{}", i);
    r.instruction_text.push_back(text + std::string(text_bytes - std::min(text_bytes, text.size()), '<'));
    r.seconds = std::max(r.seconds, now[lane]);
  }
  r.instructions = count;
  return r;
}

std::vector<json> events(const json& trace, const std::string& kind) {
  std::vector<json> found;
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") == kind) found.push_back(e);
  }
  return found;
}

// What the page's script reads.
json embedded_data(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

template <class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  ADD_FAILURE() << "InvalidArgument was expected";
  return "";
}

TEST_F(ReportTest, RatiosUseTheWholeModelledTime) {
  const RunReport r = small_report();
  EXPECT_DOUBLE_EQ(r.utilisation("tensor"), 0.45);
  EXPECT_DOUBLE_EQ(r.utilisation("dma load"), 0.2);
  EXPECT_EQ(r.utilisation("scalar"), 0);
  EXPECT_EQ(r.utilisation("no such lane"), 0);
  EXPECT_DOUBLE_EQ(r.tensor_roof_fraction(), 0.5);
  EXPECT_EQ(RunReport().utilisation("tensor"), 0);
  EXPECT_EQ(RunReport().tensor_roof_fraction(), 0);
}

TEST_F(ReportTest, TheBusiestOfRingsWithOneNameSpeaksForThem) {
  RunReport r = small_report();
  r.lanes.push_back({"dma load", 30e-6, 1});
  EXPECT_DOUBLE_EQ(r.utilisation("dma load"), 0.3);
}

TEST_F(ReportTest, OpcodeIsTheFirstWordThatIsNoEngine) {
  EXPECT_EQ(report::opcode_of("tensor nc_matmul dst=acc"), "nc_matmul");
  EXPECT_EQ(report::opcode_of("nc_matmul dst=acc"), "nc_matmul");
  EXPECT_EQ(report::opcode_of("  dma\tdma_copy"), "dma_copy");
  EXPECT_EQ(report::opcode_of("tensor tensor_copy"), "tensor_copy");
  EXPECT_EQ(report::opcode_of("tensor"), "instruction");
  EXPECT_EQ(report::opcode_of(""), "instruction");
}

TEST_F(ReportTest, QuantitiesHaveFourDigitsAndAUnit) {
  EXPECT_EQ(report::time_text(0), "0 ns");
  EXPECT_EQ(report::time_text(412.34e-6), "412.3 us");
  EXPECT_EQ(report::time_text(0.99999e-3), "1 ms");
  EXPECT_EQ(report::bytes_text(33'554'432), "33.55 MB");
  EXPECT_EQ(report::flop_rate_text(78.6432e12), "78.64 TF/s");
  EXPECT_EQ(report::percent_text(0.7789), "77.9 %");
  EXPECT_EQ(report::grouped(1'234'567), "1,234,567");
}

TEST_F(ReportTest, TraceNamesTheProcessAndEveryLane) {
  std::map<int, std::string> threads;
  std::string process;
  for (const json& e : events(trace(small_report()), "M")) {
    if (e.at("name") == "thread_name") threads[e.at("tid")] = e.at("args").at("name");
    if (e.at("name") == "process_name") process = e.at("args").at("name");
  }
  EXPECT_EQ(process, "gemm on trn2 (modelled)");
  const std::map<int, std::string> expected{{0, "launch"}, {1, "tensor"}, {2, "vector"},
                                            {3, "scalar"}, {4, "gpsimd"}, {5, "dma load"}};
  EXPECT_EQ(threads, expected);
}

TEST_F(ReportTest, TraceShiftsIntervalsByTheLaunch) {
  const std::vector<json> bars = events(trace(small_report()), "X");
  ASSERT_EQ(bars.size(), 5u);
  EXPECT_EQ(bars[0].at("name"), "launch");
  EXPECT_EQ(bars[0].at("ts"), 0);
  EXPECT_DOUBLE_EQ(bars[0].at("dur"), 10);
  EXPECT_EQ(bars[1].at("name"), "nc_matmul");
  EXPECT_DOUBLE_EQ(bars[1].at("ts"), 30);
  EXPECT_DOUBLE_EQ(bars[1].at("dur"), 20);
  EXPECT_EQ(bars[1].at("args").at("instruction"), "tensor nc_matmul dst=acc stationary=a moving=b");
  EXPECT_DOUBLE_EQ(bars[2].at("ts"), 70);
}

TEST_F(ReportTest, TraceIsSortedPerLaneAndAddsUpToBusy) {
  for (const RunReport& r : {small_report(), long_report(5000, 3, 40)}) {
    std::map<int, double> last_end, busy;
    for (const json& e : events(trace(r), "X")) {
      const int lane = e.at("tid").get<int>() - 1;
      if (lane < 0) continue;
      // Neighbours may touch; times have six decimals, far above the error of a double of this size.
      EXPECT_GE(e.at("ts").get<double>(), last_end[lane] - 1e-9);
      last_end[lane] = e.at("ts").get<double>() + e.at("dur").get<double>();
      busy[lane] += e.at("dur").get<double>();
    }
    for (std::size_t l = 0; l < r.lanes.size(); ++l) {
      // Each end is rounded to a picosecond, 1e-6 us.
      const double bound = 1e-6 * static_cast<double>(r.lanes[l].instructions) + 1e-9;
      EXPECT_NEAR(busy[static_cast<int>(l)], r.lanes[l].busy_s * 1e6, bound) << r.lanes[l].name;
    }
  }
}

TEST_F(ReportTest, TraceSaysWhenIntervalsWereCut) {
  RunReport r = small_report();
  EXPECT_TRUE(events(trace(r), "i").empty());
  r.instructions = 1'000'000;
  const json cut = trace(r);
  const std::string note = "The timeline holds the first 4 of 1,000,000 executed instructions.";
  ASSERT_EQ(events(cut, "i").size(), 1u);
  EXPECT_EQ(events(cut, "i")[0].at("name"), note);
  EXPECT_DOUBLE_EQ(events(cut, "i")[0].at("ts"), 100);
  EXPECT_EQ(cut.at("otherData").at("note"), note);
}

TEST_F(ReportTest, TraceKeepsAnyText) {
  RunReport r = small_report();
  r.program = "quote \" and \\ and\nnewline";
  r.instruction_text[1] = "tensor nc_matmul \"</script>\" \t \x01 \xff end";
  const std::vector<json> bars = events(trace(r), "X");
  EXPECT_EQ(bars[1].at("args").at("instruction"), "tensor nc_matmul \"</script>\" \t \x01 \xEF\xBF\xBD end");
}

TEST_F(ReportTest, IntervalsWithoutTextAreStillDrawn) {
  RunReport r = small_report();
  r.instruction_text.clear();
  EXPECT_EQ(events(trace(r), "X")[1].at("name"), "instruction");
  EXPECT_EQ(embedded_data(page(r)).at("opcodes")[0], "instruction");
}

TEST_F(ReportTest, PageHoldsTheNumbers) {
  const std::string html = page(small_report());
  // Rate: half of 78.64 TF/s. Bandwidth: 5 MB in 100 us, and in the 20 us of transfers. SBUF: 106492 of 212984 bytes.
  // Intensity: 78.64e12 * 1e-4 / 2 flop over 5e6 bytes. Mean of the two matmuls, 20 and 25 us: 22.5 us.
  std::istringstream expected(
      "MODELLED|Modelled time|gemm|trn2|NeuronCore-v3|100 us|10 us of it launch overhead|39.32 TF/s|50.0 % of the "
      "78.64 TF/s|"
      "4 MB read, 1 MB written|50 GB/s|250 GB/s|104 KiB|50.0 % of 208 KiB|4 KiB|25.0 % of 16 KiB|3 us|45.0 %|5.0 "
      "%|20.0 %|"
      "716 GB/s|368 GB/s|786.4 flop/B|nc_matmul|22.5 us");
  for (std::string text; std::getline(expected, text, '|');) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
}

TEST_F(ReportTest, PageNeedsNothingFromOutside) {
  const std::string html = page(small_report());
  for (const char* text : {"http://", "https://", "src=\"", "href", "@import", "url("}) {
    EXPECT_EQ(html.find(text), std::string::npos) << text;
  }
}

TEST_F(ReportTest, PageEscapesEveryText) {
  RunReport r = small_report();
  const std::string hostile = "tensor <b>&\"'</script><script>alert(1)</script>";
  r.program = hostile;
  r.lanes[0].name = hostile;
  r.instruction_text[1] = hostile;
  r.instruction_text[2] = "vector \xff bad bytes";
  const std::string html = page(r);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("<b>&"), std::string::npos);
  EXPECT_NE(html.find("<h1>tensor &lt;b&gt;&amp;&quot;&#39;&lt;/script&gt;"), std::string::npos);
  const json data = embedded_data(html);
  EXPECT_EQ(data.at("lanes")[0].at("name"), hostile);
  EXPECT_EQ(data.at("texts")[0], hostile);
}

TEST_F(ReportTest, PageTimelineDecodesToTheIntervals) {
  const json data = embedded_data(page(small_report()));
  const json& tensor = data.at("lanes")[0];
  // gap, length, text; ticks of 0.1 ns
  EXPECT_EQ(tensor.at("detail"), json({200'000, 200'000, 0, 200'000, 250'000, 0}));
  EXPECT_TRUE(tensor.at("merged").empty());
  EXPECT_EQ(data.at("texts")[0], "tensor nc_matmul dst=acc stationary=a moving=b");
}

TEST_F(ReportTest, LongTimelineIsMergedWithoutLosingAnInstruction) {
  const RunReport r = long_report(100'000, 4, 60);
  const json data = embedded_data(page(r));
  std::int64_t instructions = 0, single = 0;
  for (std::size_t l = 0; l < r.lanes.size(); ++l) {
    const json& lane = data.at("lanes")[l];
    const json &detail = lane.at("detail"), &merged = lane.at("merged");
    ASSERT_LE(merged.size() / 5, report::PageLimits::kSegmentsPerLane);
    ASSERT_GT(merged.size() / 5, report::PageLimits::kSegmentsPerLane / 2);
    single += static_cast<std::int64_t>(detail.size() / 3);
    double busy = 0;
    for (std::size_t i = 0; i < detail.size(); i += 3)
      busy += detail[i + 1].get<double>() * data.at("detailTick").get<double>();
    for (std::size_t i = 0; i < merged.size(); i += 5) {
      EXPECT_GE(merged[i].get<std::int64_t>(), 0);
      instructions += merged[i + 3].get<std::int64_t>();
      busy += merged[i + 1].get<double>() * merged[i + 4].get<double>() / 100 * data.at("mergedTick").get<double>();
    }
    // The busy share of a segment is rounded to a percent, to either side.
    EXPECT_NEAR(busy, r.lanes[l].busy_s, 0.005 * r.seconds);
  }
  EXPECT_EQ(single, static_cast<std::int64_t>(report::PageLimits::kDetail));
  EXPECT_EQ(single + instructions, 100'000);
}

TEST_F(ReportTest, PageStaysBelowOneMegabyte) {
  for (const int lanes : {1, 6, 40}) {
    EXPECT_LT(page(long_report(100'000, lanes, 300)).size(), 1'000'000u) << lanes << " lanes";
  }
}

TEST_F(ReportTest, ManyIntervalsAtOneInstantStayBounded) {
  RunReport r = long_report(50'000, 2, 40);
  for (Interval& i : r.intervals) i.begin_s = i.end_s = 0;
  const json data = embedded_data(page(r));
  for (const json& lane : data.at("lanes"))
    EXPECT_LE(lane.at("merged").size() / 5, report::PageLimits::kSegmentsPerLane);
}

TEST_F(ReportTest, EmptyReportsAreDrawn) {
  RunReport r;
  r.machine = "trn2";
  EXPECT_EQ(events(trace(r), "X").size(), 1u);  // the launch
  EXPECT_NE(page(r).find("executed no instruction"), std::string::npos);
  RunReport uncounted = small_report();
  uncounted.intervals.clear();
  uncounted.instruction_text.clear();
  EXPECT_NE(page(uncounted).find("keep_intervals"), std::string::npos);
}

TEST_F(ReportTest, EveryMachineHasAPage) {
  for (const tile::Machine& machine : tile::machines()) {
    RunReport r = small_report();
    r.machine = machine.name;
    r.tensor_peak_flops = machine.tensor_flops(DType::Float8E4M3);
    EXPECT_NO_THROW(write_html(r, machine, path("page.html")));
    const std::string html = read(path("page.html"));
    EXPECT_EQ(html.find("nan"), std::string::npos);
    EXPECT_EQ(html.find("inf\""), std::string::npos);
  }
}

TEST_F(ReportTest, UnwritablePathLeavesNothingBehind) {
  const RunReport r = small_report();
  const tile::Machine& m = tile::machine("trn2");
  const std::string missing = path("no_such_folder/out");
  for (const std::string& message :
       {message_of([&] { write_trace(r, missing); }), message_of([&] { write_html(r, m, missing); })}) {
    EXPECT_NE(message.find(missing), std::string::npos) << message;
    EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  }
  EXPECT_EQ(files(), 0);

  fs::create_directory(path("folder"));
  EXPECT_NE(message_of([&] { write_trace(r, path("folder")); }).find("not a regular file"), std::string::npos);
  EXPECT_EQ(files(), 1);
  EXPECT_NE(message_of([&] { write_trace(r, "/dev/null"); }).find("not a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_trace(r, ""), InvalidArgument);
}

TEST_F(ReportTest, ARefusedReportLeavesTheOldFileAlone) {
  std::ofstream(path("out")) << "old";
  RunReport r = small_report();
  r.intervals[0].lane = 99;
  EXPECT_NE(message_of([&] { write_trace(r, path("out")); }).find("lane 99"), std::string::npos);
  r = small_report();
  r.intervals[0].end_s = -1;
  EXPECT_THROW(write_html(r, tile::machine("trn2"), path("out")), InvalidArgument);
  r = small_report();
  r.seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(write_trace(r, path("out")), InvalidArgument);
  EXPECT_EQ(read(path("out")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReportTest, WritingReplacesTheFileBehindALink) {
  std::ofstream(path("file")) << "old";
  fs::create_symlink(path("file"), path("link"));
  write_trace(small_report(), path("link"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_NE(read(path("file")), "old");
  EXPECT_EQ(files(), 2);
}

TEST_F(ReportTest, PageRefusesAnotherMachine) {
  const std::string message = message_of([&] { write_html(small_report(), tile::machine("trn1"), path("out")); });
  EXPECT_NE(message.find("'trn2'"), std::string::npos);
  EXPECT_NE(message.find("'trn1'"), std::string::npos);
}

}  // namespace
}  // namespace trn::neuron
