// silicon-check as a whole, without the libraries: every section, a section that fails, a device whose matmul rounds
// towards zero and a device that rounds at random, both found and named; constants that measurements would move.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include <trn/core/float_types.hpp>
#include <trn/neuron/sim.hpp>

#include "silicon_items.hpp"
#include "silicon_report.hpp"
#include "support.hpp"
#include "support/message_of.hpp"

namespace trn::tools::silicon {
namespace {

using neuron::neff::testing::content;
using neuron::neff::testing::Folder;
using neuron::neff::testing::write;

// A simulator behind a device of its own, for what tests plant.
class Planted : public tile::Device {
 public:
  explicit Planted(Executor simulator)
      : Device("sim:trn2", tile::machine("trn2")),
        simulator_(std::move(simulator)),
        device_(tile::device_of(simulator_)) {}
  void* allocate(std::int64_t bytes) override { return device_.allocate(bytes); }
  void deallocate(void* address, std::int64_t bytes) noexcept override { device_.deallocate(address, bytes); }
  void copy_in(void* to, const void* from, std::int64_t bytes) override { device_.copy_in(to, from, bytes); }
  void copy_out(void* to, const void* from, std::int64_t bytes) override { device_.copy_out(to, from, bytes); }
  void copy_within(void* to, const void* from, std::int64_t bytes) override { device_.copy_within(to, from, bytes); }
  void synchronize() override { device_.synchronize(); }
  [[nodiscard]] double clock() const override { return device_.clock(); }
  std::shared_ptr<const tile::Executable> load(std::shared_ptr<const tile::Program> program) override {
    return device_.load(std::move(program));
  }
  void run(const std::shared_ptr<const tile::Executable>& executable,
           std::span<const tile::Binding> bindings) override {
    device_.run(executable, bindings);
  }

 protected:
  Executor simulator_;
  tile::Device& device_;
};

// A device for which the compiler makes no kernel.
class Uncompiled final : public Planted {
 public:
  using Planted::Planted;
  std::shared_ptr<const tile::Executable> load(std::shared_ptr<const tile::Program>) override {
    throw DeviceError("the compiler refused it", "neff-build");
  }
};

// Chains of bfloat16 products round towards zero: what is planted for silicon-check to find.
class WrongRounding final : public Planted {
 public:
  using Planted::Planted;
  void run(const std::shared_ptr<const tile::Executable>& executable,
           std::span<const tile::Binding> bindings) override {
    device_.run(executable, bindings);
    const auto& tensors = executable->program().tensors();
    if (tensors.size() != 3 || tensors[0].dtype != DType::BFloat16 || tensors[0].name != "a") return;
    const auto k_end = static_cast<std::size_t>(tensors[0].shape[0]),
               m_end = static_cast<std::size_t>(tensors[0].shape[1]),
               n_end = static_cast<std::size_t>(tensors[1].shape[1]);
    const auto of = [&](const char* name) {
      for (const tile::Binding& b : bindings) {
        if (b.name == name) return const_cast<void*>(b.address());
      }
      throw std::logic_error(name);
    };
    std::vector<bfloat16> a(k_end * m_end), b(k_end * n_end);
    device_.copy_out(a.data(), of("a"), static_cast<std::int64_t>(a.size() * 2));
    device_.copy_out(b.data(), of("b"), static_cast<std::int64_t>(b.size() * 2));
    std::vector<float> c;
    for (std::size_t m = 0; m < m_end; ++m) {
      for (std::size_t n = 0; n < n_end; ++n) {
        float sum = 0;
        for (std::size_t k = 0; k < k_end; ++k) {
          const double exact = static_cast<double>(sum) + static_cast<double>(a[k * m_end + m]) * b[k * n_end + n];
          auto next = static_cast<float>(exact);
          if (std::abs(static_cast<double>(next)) > std::abs(exact)) next = std::nextafter(next, 0.0f);
          sum = next;
        }
        c.push_back(sum);
      }
    }
    device_.copy_in(of("out"), c.data(), static_cast<std::int64_t>(c.size() * 4));
  }
};

struct Opened {
  explicit Opened(Open open) { set_open(std::move(open)); }
  ~Opened() {
    set_open([](const std::string& name) { return Executor::open(name); });
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

const Json& section(const Json& report, const char* name) {
  for (const Json& s : report["sections"]) {
    if (s["name"] == name) return s;
  }
  throw std::out_of_range(name);
}

TEST(SiliconCheck, EverySectionOfASimulatorIsAsExpected) {
  const Json report = run_sections("sim:trn2", 10, device_sections());
  ASSERT_EQ(report["sections"].size(), device_sections().size());
  for (const Json& s : report["sections"]) {
    EXPECT_TRUE(s["status"] == "ok" || ((s["name"] == "toolchain" || s["name"] == "runtime" || s["name"] == "end") &&
                                        s["status"] == "skipped"))
        << s.dump(1);
  }
  EXPECT_GE(section(report, "exactness")["confirmed"], 28);
  EXPECT_GE(section(report, "time")["rows"].size(), 10u);
  for (const Json& row : section(report, "time")["rows"]) {
    EXPECT_NEAR(row["ratio"].get<double>(), 1, 1e-9) << row.dump();
  }
  EXPECT_TRUE(moved_constants(report).empty());
  EXPECT_TRUE(compare(report, report).differences.empty());
  for (const char* name : {"toolchain", "exactness", "time"}) {
    EXPECT_EQ(section(report, name).value("left_out", 0), 0) << name;
  }
}

TEST(SiliconCheck, TheToolchainBuildsEightKernels) {
  setenv("TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PROGRAM, 1);
  const Json report = run_sections("sim:trn2", 10, {{"toolchain", "", check_toolchain}});
  unsetenv("TRN_NKI_PYTHON");
  const Json& s = report["sections"][0];
  EXPECT_EQ(s["status"], "ok") << s.dump(1);
  ASSERT_EQ(s["kernels"].size(), 8u);
  for (const Json& k : s["kernels"]) EXPECT_EQ(k["status"], "built") << k.dump(1);
  EXPECT_EQ(s["kernels"][1]["tensors"], "in y.must_alias_input 32768; out y 32768 continues y.must_alias_input");
}

TEST(SiliconCheck, AnExceptionEndsASectionNotTheReport) {
  const Json report =
      run_sections("sim:trn2", 10,
                   {{"first", "", [](const Task&, Json& out) { out["half"] = 1, throw DeviceError("broke"); }},
                    {"second", "", [](const Task&, Json& out) { out["done"] = true; }}});
  EXPECT_EQ(report["sections"][0]["status"], "failed");
  EXPECT_EQ(report["sections"][0]["error"], "broke");
  EXPECT_EQ(report["sections"][0]["half"], 1);
  EXPECT_EQ(report["sections"][1]["status"], "ok");
  const Json late = run_sections("sim:trn2", 0, device_sections());
  for (const Json& s : late["sections"]) EXPECT_EQ(s["status"], "skipped");
}

TEST(SiliconCheck, APlantedRoundingTowardsZeroIsFoundAndNamed) {
  const std::vector<NamedSection> only{{"exactness", "", check_choices}};
  const Json right = run_sections("sim:trn2", 10, only);
  const Opened planted(
      [](const std::string&) { return Executor(std::make_shared<WrongRounding>(neuron::open_simulator("trn2"))); });
  const Json wrong = run_sections("sim:trn2", 10, only);
  const Json& choice = section(wrong, "exactness")["choices"][0];
  EXPECT_EQ(section(wrong, "exactness")["status"], "findings");
  EXPECT_EQ(choice["number"], 1);
  EXPECT_EQ(choice["status"], "other");
  EXPECT_EQ(choice["rule"], "a chain that rounds towards zero");
  EXPECT_GT(choice["differing"], 50);
  const std::vector<std::string> lines = compare(right, wrong).differences;
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "exactness: ok and findings");
  EXPECT_NE(lines[1].find("choice: 1, order and rounding of the sum inside a matmul"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("a chain that rounds towards zero"), std::string::npos) << lines[1];
}

TEST(SiliconCheck, StochasticRoundingIsNoticed) {
  const Opened random([](const std::string&) {
    return neuron::open_simulator("trn2", {.rounding = neuron::Rounding::Stochastic, .rounding_seed = 5});
  });
  const Json report = run_sections("sim:trn2", 10, {{"exactness", "", check_choices}});
  std::vector<int> undecided;
  for (const Json& c : section(report, "exactness")["choices"]) {
    if (c["status"] == "undecided") undecided.push_back(c["number"]);
  }
  EXPECT_EQ(undecided, std::vector<int>{10});  // the one question that rounds inexact results to a narrow type
}

TEST(SiliconReport, HoldsNoPlaces) {
  const auto same = [](const std::string& text) { EXPECT_EQ(without_places(text), text); };
  same("38.2 TF/s, 1/2 of it, 3 / 4; blas.gemm --m 4 and/or --n 8; runtime 2.21.37.0; s:4096; x = -1.5e-3");
  EXPECT_EQ(without_places(R"(File "/home/jane/nki/a b.py", ~/x/y.c:3, ../z/w, (./run), TMP=/tmp/k-1/neff)"),
            R"(File ".../a b.py", .../y.c:3, .../w, (.../run), TMP=.../neff)");
  EXPECT_EQ(without_places("connect to 10.0.0.7:5000 from ip-10-0-0-1.ec2.internal failed, node7.local is down"),
            "connect to HOST:5000 from HOST failed, HOST is down");
  std::array<char, 256> name{};
  ASSERT_EQ(gethostname(name.data(), name.size() - 1), 0);
  if (std::strlen(name.data()) > 1 && std::strcmp(name.data(), "localhost") != 0) {
    EXPECT_EQ(without_places(fmt::format("on {}: it", name.data())).find(name.data()), std::string::npos);
  }
  const Json report = run_sections("sim:trn2", 1, {{"one", "throws", [](const Task&, Json& out) {
                                                      out["rows"] = {{{"error", "see /tmp/x/log.txt"}}};
                                                      throw Error("no /var/lib/thing");
                                                    }}});
  EXPECT_EQ(report["sections"][0]["error"], "no .../thing");
  EXPECT_EQ(report["sections"][0]["rows"][0]["error"], "see .../log.txt");
}

TEST(SiliconCheck, WhatIsNotCompiledIsLeftOutAndAFinding) {
  const Json asked = run_sections("sim:trn2", 1, {{"questions", "", [](const Task&, Json& out) {
                                                     Items items(out);
                                                     items.ask("known", "right", [] { return std::string("right"); });
                                                     items.ask("open", "", [] { return std::string("three"); });
                                                     items.ask("refused", "", []() -> std::string {
                                                       throw DeviceError("no kernel", "neff-build");
                                                     });
                                                   }}});
  const Json& s = asked["sections"][0];
  EXPECT_EQ(s["status"], "findings");
  EXPECT_EQ(s["left_out"], 1);
  for (const auto& [number, status] : {std::pair{0, "ok"}, {1, "answered"}, {2, "skipped"}}) {
    EXPECT_EQ(s["items"][static_cast<std::size_t>(number)]["status"], status);
  }
  const Opened planted(
      [](const std::string&) { return Executor(std::make_shared<Uncompiled>(neuron::open_simulator("trn2"))); });
  const Json report = run_sections("sim:trn2", 10, {{"time", "", check_time}, {"contract", "", check_contract}});
  for (const char* name : {"time", "contract"}) {
    EXPECT_EQ(section(report, name)["status"], "findings") << name;
    EXPECT_GT(section(report, name)["left_out"], 3) << name;
    EXPECT_EQ(section(report, name)["left_why"], "not compiled") << name;
  }
  EXPECT_TRUE(section(report, "time")["rows"].empty());
}

// What was not asked because the check was to end is left out and no finding; findings may have left something out,
// too.
TEST(SiliconCheck, WhatWasStoppedIsCut) {
  const auto stops = [](const Task&, Json& out) {
    Items items(out);
    items.ask("known", "right", [] { return std::string("right"); });
    items.ask("under way", "right", []() -> std::string { throw DeviceError("compiling: stopped", "neff-stopped"); });
  };
  std::vector<std::size_t> kept;
  const Json report =
      run_sections("sim:trn2", 1,
                   {{"asks", "", stops},
                    {"throws", "", [](const Task&, Json&) { throw DeviceError("compiling: stopped", "neff-stopped"); }},
                    {"finds", "", [](const Task&, Json& out) { out["status"] = "findings", out["left_out"] = 7; }}},
                   [&](const Json& so_far) { kept.push_back(so_far["sections"].size()); });
  EXPECT_EQ(kept, (std::vector<std::size_t>{1, 2, 3}));
  const auto& sections = report["sections"];
  EXPECT_EQ(sections[0]["status"], "cut");
  EXPECT_EQ(sections[0]["items"][1]["status"], "skipped");
  EXPECT_EQ(sections[1]["status"], "cut");
  EXPECT_EQ(sections[2]["status"], "findings");
  EXPECT_EQ(sections[2]["left_out"], 7);
  for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(sections[i]["left_why"], "the time was up") << i;
  EXPECT_EQ(sections[0]["left_out"], 1);
  EXPECT_EQ(sections[1]["left_out"], 1);
}

// A compiler that never ends does not keep the check beyond its minutes.
TEST(SiliconCheck, TheEndOfItsTimeEndsTheCompiler) {
  const Folder f;
  setenv("TRN_NKI_PYTHON", neuron::neff::testing::toolchain(f.path(), "hang").c_str(), 1);
  const Json report = run_sections("sim:trn2", 0.01, {{"toolchain", "", check_toolchain}});
  unsetenv("TRN_NKI_PYTHON");
  const Json& s = report["sections"][0];
  EXPECT_EQ(s["status"], "cut") << s.dump(1);
  EXPECT_EQ(s["left_out"], 8);
  EXPECT_TRUE(s["kernels"].empty());
  EXPECT_LT(s["seconds"], 60);
}

TEST(SiliconReport, MeasurementsMoveConstants) {
  Json report = run_sections("sim:trn2", 10, {{"time", "", check_time}});
  Json& rows = report["sections"][0]["rows"];
  for (Json& row : rows) row["measured_us"] = row["measured_us"].get<double>() + 5;  // a launch is in each
  const double before = rows[3]["constant_us"].get<double>();
  rows[3]["measured_us"] = rows[3]["measured_us"].get<double>() + 12.8;
  const std::vector<std::string> lines = moved_constants(report);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("launch and finish: 15 us would become 20 us"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(fmt::format("semaphore: {:.4g} us would become {:.4g} us", before, before + 0.1)),
            std::string::npos)
      << lines[1];
  rows[3]["measured_us"] = rows[3]["modelled_us"].get<double>() + 5 - 256 * before;
  EXPECT_NE(moved_constants(report)[1].find("less than nothing"), std::string::npos);
  const auto refused = [&] {
    return ::trn::testing_support::message_of<Error>([&] { (void)moved_constants(report); });
  };
  for (const Json& bad : {Json(nullptr), Json(0), Json(-5), Json(1e-320), Json(1e300), Json("x")}) {
    rows[3]["measured_us"] = bad;
    EXPECT_NE(refused().find("has no measured_us that can be"), std::string::npos) << bad;
  }
  rows = Json::array();
  report["sections"][0]["status"] = "failed";
  EXPECT_NE(refused().find("no measured constants (section 'time' is failed)"), std::string::npos);
}

// What one report did not come to, skipped or was not asked for is told, and is not a difference.
TEST(SiliconReport, WhatWasNotAskedIsNoDifference) {
  const auto report = [](const char* sections) {
    return Json::parse(fmt::format(R"({{"format": 1, "machine": "trn2", "sections": {}}})", sections));
  };
  const Json whole = report(R"([{"name": "exactness", "status": "ok", "left_out": 0, "choices": [
      {"number": 1, "title": "a", "status": "confirmed"}, {"number": 2, "title": "b", "status": "confirmed"}]},
    {"name": "faults", "status": "ok", "items": [{"item": "c", "status": "ok", "answer": "right"}]},
    {"name": "time", "status": "ok", "rows": []}, {"name": "cores", "status": "ok"}])");
  const Json cut = report(R"([{"name": "exactness", "status": "cut", "left_out": 1, "choices": [
      {"number": 1, "title": "a", "status": "other", "rule": "r"}]},
    {"name": "faults", "status": "ok", "items": [{"item": "c", "status": "skipped", "answer": "none here"}]},
    {"name": "time", "status": "skipped", "reason": "the time was up"}])");
  for (const bool swapped : {false, true}) {
    const Comparison found = swapped ? compare(cut, whole) : compare(whole, cut);
    ASSERT_EQ(found.differences.size(), 1u);
    EXPECT_NE(found.differences[0].find("choice: 1, a"), std::string::npos) << found.differences[0];
    ASSERT_EQ(found.not_compared.size(), 4u);
    EXPECT_EQ(found.not_compared[0], "choice: 1 that one report did not come to");
    EXPECT_EQ(found.not_compared[1], fmt::format("faults: c: skipped in the {} report", swapped ? "first" : "second"));
    EXPECT_EQ(found.not_compared[2], fmt::format("time: skipped in the {} report", swapped ? "first" : "second"));
    EXPECT_EQ(found.not_compared[3], fmt::format("cores: in the {} report only", swapped ? "second" : "first"));
  }
}

// Everything that a report says beside its rows is compared; what differs by nature between hardware and a simulator is
// told, and is not a difference.
TEST(SiliconReport, ValuesBesideTheRowsAreCompared) {
  const auto report = [](const char* executor, bool other, std::int64_t cores) {
    Json machine{{"name", "machine"}, {"status", "ok"}, {"simulated", true}, {"runtime_version", "1"}};
    for (const char* key : {"core", "cores_per_chip", "hbm_bytes_per_stack", "sbuf_bytes_per_partition", "lnc"})
      machine[key] = other ? 2 : 1;
    if (other) machine["simulated"] = false, machine["runtime_version"] = "2";
    Json exactness{{"name", "exactness"}, {"status", "ok"}};
    exactness["probe_exactness"] = {{"exact", !other}, {"reason", other ? "rounds" : ""}};
    exactness["choices"] = {{{"number", 1}, {"title", "a"}, {"status", "other"}, {"differing", other ? 7 : 3}}};
    return Json{
        {"format", 1},
        {"executor", executor},
        {"machine", "trn2"},
        {"sections",
         {machine, exactness, Json{{"name", "time"}, {"status", "ok"}, {"measured_by", other ? "clock" : "model"}},
          Json{{"name", "cores"}, {"status", "ok"}, {"cores", cores}}}}};
  };
  const Comparison found = compare(report("sim:trn2", false, 8), report("neuron", true, 2));
  EXPECT_EQ(found.differences,
            (std::vector<std::string>{"machine: core '1' and '2'", "machine: cores_per_chip '1' and '2'",
                                      "machine: hbm_bytes_per_stack '1' and '2'",
                                      "machine: sbuf_bytes_per_partition '1' and '2'", "machine: lnc '1' and '2'",
                                      "choice: 1, a: differing '3' and '7'",
                                      "exactness: probe_exactness: exact 'true' and 'false'",
                                      "exactness: probe_exactness: reason '' and 'rounds'"}));
  EXPECT_EQ(found.not_compared,
            (std::vector<std::string>{"machine: simulated 'true' and 'false'", "machine: runtime_version '1' and '2'",
                                      "time: measured_by 'model' and 'clock'", "cores: cores '8' and '2'"}));
  const auto cores = [&](const char* a, std::int64_t x, const char* b, std::int64_t y) {
    return compare(report(a, false, x), report(b, false, y)).differences.size();
  };
  EXPECT_EQ(cores("sim:trn2", 8, "sim:trn2", 8), 0u);
  EXPECT_EQ(cores("sim:trn2", 8, "sim:trn2", 2), 1u);
  EXPECT_EQ(cores("sim:trn2", 8, "neuron", 1), 1u);  // a core that cannot be opened
  EXPECT_EQ(cores("neuron", 2, "neuron:1", 1), 1u);
}

TEST(SiliconCheck, ASectionWhoseTimeRunsOutIsCut) {
  const std::vector<NamedSection> slow{{"exactness", "",
                                        [](const Task& task, Json& out) {
                                          while (!task.deadline.over()) continue;
                                          check_choices(task, out);
                                        }},
                                       {"time", "", check_time}};
  const Json report = run_sections("sim:trn2", 0.0005, slow);
  const Json& s = report["sections"][0];
  EXPECT_EQ(s["status"], "cut");
  EXPECT_GE(s["left_out"], 28);
  EXPECT_EQ(s["confirmed"], 0);
  EXPECT_EQ(report["sections"][1]["status"], "skipped");
  const Json whole = run_sections("sim:trn2", 10, {{"exactness", "", check_choices}});
  EXPECT_TRUE(compare(report, whole).differences.empty());
}

TEST(SiliconReport, FilesThatAreNoReportAreRefused) {
  const Folder f;
  EXPECT_THROW((void)read_report((f.path() / "nothing").string()), InvalidArgument);
  for (const char* text : {"", "[]", "{}", "{\"format\": 2, \"sections\": []}", "{\"format\": 1, \"sections\": 3}"}) {
    write(f.path() / "r.json", text);
    EXPECT_THROW((void)read_report((f.path() / "r.json").string()), InvalidArgument) << text;
  }
  // Sections that are not sections: each named by its number.
  for (const char* sections :
       {"[1]", "[{}]", R"([{"name": 5, "status": "ok"}])", R"([{"name": "time"}])",
        R"([{"name": "time", "status": "ok", "kernels": 3}])", R"([{"name": "time", "status": "ok", "rows": [1]}])",
        R"([{"name": "bits", "status": "ok", "programs": [{"program": "x"}]}])"}) {
    write(f.path() / "r.json", fmt::format("{{\"format\": 1, \"sections\": {}}}", sections));
    try {
      (void)read_report((f.path() / "r.json").string());
      ADD_FAILURE() << sections;
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find("section 1"), std::string::npos) << e.what();
    }
  }
  write(f.path() / "r.json", R"({"format": 1, "sections": [{"name": "time", "status": "skipped"}]})");
  const Json none = read_report((f.path() / "r.json").string());
  EXPECT_TRUE(compare(none, none).differences.empty());
  EXPECT_THROW((void)moved_constants(none), InvalidArgument);
}

}  // namespace
}  // namespace trn::tools::silicon
