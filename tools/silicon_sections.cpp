// Sections of silicon-check that ask about the device as a whole: machine, toolchain, choices, contract, faults, cores.
#include <fmt/format.h>
#include <stdlib.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <trn/core/array.hpp>
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/nki_kernel.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

#include "neff/neff.hpp"
#include "silicon_choice.hpp"
#include "silicon_kernels.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

bool simulated(const std::string& executor) { return executor.starts_with("sim:"); }

const tile::Machine& machine_of(const Task& task) { return tile::device_of(open_checked(task.executor)).machine(); }

std::vector<float> numbers(std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 1000) - 500;
  return v;
}

// y = 2 x + 1 on the device, from and to these places.
void run_line(const Executor& executor, std::int64_t columns, const void* x, std::int64_t x_offset, void* y,
              std::int64_t y_offset) {
  const tile::Program program = line_program(tile::device_of(executor).machine(), columns);
  const std::vector<tile::Argument> arguments{{"x", x, x_offset}, {"y", y, y_offset}};
  tile::launch(executor, program, arguments);
}

class Items {
 public:
  explicit Items(Json& out) : out_(out) { out_["items"] = Json::array(); }
  // The answer, "ok" when it is the expected one; an exception is an answer too.
  void ask(const char* item, const std::string& expected, const std::function<std::string()>& question) {
    std::string answer;
    try {
      answer = question();
    } catch (const DeviceError& e) {
      answer = "error " + (e.check().empty() ? std::string(e.what()) : e.check());
    } catch (const Error& e) {
      answer = std::string("error ") + e.what();
    }
    const bool as_expected = expected.empty() || answer == expected;
    out_["items"].push_back(
        {{"item", item}, {"status", as_expected ? "ok" : "other"}, {"answer", answer}, {"expected", expected}});
    if (!as_expected) out_["status"] = "findings";
  }
  void leave(const char* item, const char* reason) {
    out_["items"].push_back({{"item", item}, {"status", "skipped"}, {"answer", reason}, {"expected", ""}});
  }

 private:
  Json& out_;
};

}  // namespace

void check_machine(const Task& task, Json& out) {
  const tile::Machine& m = machine_of(task);
  out["simulated"] = simulated(task.executor);
  out["core"] = std::string(m.core);
  out["cores_per_chip"] = m.cores_per_chip;
  out["hbm_bytes_per_stack"] = m.hbm_bytes_per_stack();
  out["sbuf_bytes_per_partition"] = m.sbuf_bytes_per_partition;
  out["lnc"] = 1;
  out["executors"] = Executor::known();
  if (!simulated(task.executor)) {
    const neuron::NeuronVersions versions = neuron::neuron_versions();
    out["runtime_version"] = versions.runtime;
    out["driver_version"] = versions.driver;
  }
}

void check_choices(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  out["choices"] = Json::array();
  std::int64_t confirmed = 0, left = 0;
  for (Question& q : questions(machine_of(task))) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    const Finding f = ask(executor, q);
    confirmed += f.status == "confirmed";
    if (f.status != "confirmed") out["status"] = "findings";
    out["choices"].push_back({{"number", f.number},
                              {"title", f.title},
                              {"status", f.status},
                              {"rule", f.rule},
                              {"expected", f.expected},
                              {"found", f.found},
                              {"differing", f.differing},
                              {"elements", f.elements}});
  }
  for (const Undecidable& u : undecidable()) {
    if (u.number > 31) continue;  // of time
    out["choices"].push_back({{"number", u.number}, {"title", u.title}, {"status", "no program"}, {"rule", u.reason}});
  }
  out["confirmed"] = confirmed;
  out["left_out"] = left;
}

void check_toolchain(const Task& task, Json& out) {
  const tile::Machine& machine = machine_of(task);
  if (simulated(task.executor) && environment("TRN_NKI_PYTHON", "").empty()) {
    out["status"] = "skipped";
    out["reason"] = "TRN_NKI_PYTHON is not set; set it to the interpreter of an environment with nki and neuronx-cc";
    return;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "trnsci-check-XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr, "silicon-check: no temporary folder");
  struct Removed {
    std::string path;
    ~Removed() {
      std::error_code error;
      std::filesystem::remove_all(path, error);
    }
  } removed{folder};
  out["kernels"] = Json::array();
  std::int64_t left = 0;
  for (const auto& [kernel, program] : toolchain_kernels(machine)) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    Json row{{"kernel", kernel}, {"status", "built"}, {"instructions", program.dynamic_instructions()}};
    try {
      neuron::neff::Options options;
      options.cache = folder;
      const neuron::neff::Artifact built = neuron::neff::obtain(program, options);
      const neuron::neff::Header header = neuron::neff::read_header(built.bytes());
      row["seconds"] = built.seconds();
      row["neff_bytes"] = built.bytes().size();
      row["neff_version"] = fmt::format("{}.{}", header.major, header.minor);
      row["lnc"] = header.lnc;
      row["api"] = built.manifest().versions.at("api");
      std::string tensors;
      for (const auto& a : built.manifest().arguments) {
        tensors += fmt::format("{}{} {} {}{}", tensors.empty() ? "" : "; ", a.output ? "out" : "in", a.name, a.bytes,
                               a.alias.empty() ? "" : " continues " + a.alias);
      }
      row["tensors"] = tensors;
      out["versions"] = built.manifest().versions;
    } catch (const Error& e) {
      row["status"] = "failed";
      row["error"] = e.what();
      out["status"] = "findings";
    }
    out["kernels"].push_back(row);
  }
  out["left_out"] = left;
}

void check_contract(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  Items items(out);
  constexpr std::int64_t kColumns = 16, kElements = 128 * kColumns, kBytes = kElements * 4;
  const std::vector<float> x = numbers(kElements);
  const auto right = [&](const Array<float>& y, std::int64_t from = 0) {
    const std::vector<float> got = y.to_host();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (got[static_cast<std::size_t>(from) + i] != 2 * x[i] + 1) return fmt::format("element {} is wrong", i);
    }
    return std::string("right");
  };
  items.ask("an array of no elements", "right", [&] {
    const Array<float> none(executor, {0});
    return none.to_host().empty() ? "right" : "wrong";
  });
  items.ask("a run between two copies is ordered", "right", [&] {
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    return right(y);
  });
  items.ask("three runs that depend on one another", "right", [&] {
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements}), z(executor, {kElements});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    run_line(executor, kColumns, y.view().data(), 0, z.view().data(), 0);
    run_line(executor, kColumns, z.view().data(), 0, y.view().data(), 0);
    const std::vector<float> got = y.to_host();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (got[i] != 8 * x[i] + 7) return fmt::format("element {} is wrong", i);
    }
    return std::string("right");
  });
  items.ask("an array that is freed while its run may be under way", "right", [&] {
    const Array<float> y(executor, {kElements});
    {
      const auto in = Array<float>::from_host(executor, {kElements}, x);
      run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    }
    return right(y);
  });
  for (const auto& [item, bytes] : {std::pair{"a tensor that starts 4 bytes into its array", 4},
                                    {"64 bytes", 64},
                                    {"512 bytes", 512},
                                    {"4096 bytes", 4096}}) {
    items.ask(item, "right", [&, from = bytes] {
      std::vector<float> padded(static_cast<std::size_t>(kElements + 2048));
      std::copy(x.begin(), x.end(), padded.begin() + from / 4);
      const auto in = Array<float>::from_host(executor, {kElements + 2048}, padded);
      const auto y = Array<float>::from_host(executor, {kElements + 2048}, std::vector<float>(padded.size(), 7));
      run_line(executor, kColumns, in.view().data(), from, y.view().data(), from);
      if (y.to_host()[0] != 7 || y.to_host().back() != 7) return std::string("its neighbours were written");
      return right(y, from / 4);
    });
  }
  items.ask("one array bound to an input and an output without alias", "", [&] {
    const auto y = Array<float>::from_host(executor, {kElements}, x);
    run_line(executor, kColumns, y.view().data(), 0, y.view().data(), 0);
    return right(y);
  });
  items.ask("a tensor larger than its array", "error out-of-bounds", [&] {
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements / 2});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    return std::string("taken");
  });
  items.ask("memory of the host bound to a tensor", "error out-of-bounds", [&] {
    const Array<float> y(executor, {kElements});
    run_line(executor, kColumns, x.data(), 0, y.view().data(), 0);
    return std::string("taken");
  });
  if (simulated(task.executor)) {
    items.leave("an array of more than 4 GiB", "a simulator takes it from this machine's memory");
  } else {
    items.ask("an array of more than 4 GiB", "right", [&] {
      constexpr std::int64_t kLarge = (std::int64_t{1} << 32) + kBytes;
      const Buffer large(executor, kLarge);
      copy_bytes(Executor::host(), x.data(), executor, static_cast<std::byte*>(large.data()) + (kLarge - kBytes),
                 kBytes);
      const Array<float> y(executor, {kElements});
      run_line(executor, kColumns, large.data(), kLarge - kBytes, y.view().data(), 0);
      return right(y);
    });
  }
}

void check_faults(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  const tile::Machine& machine = machine_of(task);
  Items items(out);
  constexpr std::int64_t kColumns = 16, kElements = 128 * kColumns;
  items.ask("more memory than there is", "error over-capacity", [&] {
    const Buffer too_much(executor, machine.hbm_bytes_per_stack() + 1);
    return std::string("given");
  });
  items.ask("a small array after that", "given", [&] {
    const Buffer some(executor, 4096);
    return std::string("given");
  });
  items.ask("NaN is a result", "NaN", [&] {
    std::vector<float> x = numbers(kElements);
    x[5] = std::numeric_limits<float>::quiet_NaN();
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    const std::vector<float> got = y.to_host();
    return std::isnan(got[5]) && got[6] == 2 * x[6] + 1 ? "NaN" : fmt::format("{}", got[5]);
  });
  items.ask("a NEFF that is cut off", "error neff-corrupt", [] {
    const std::vector<std::byte> bytes(500);
    (void)neuron::neff::read_header(bytes);
    return std::string("taken");
  });
  if (simulated(task.executor)) {
    items.leave("a NEFF for other logical cores", "a simulator loads none");
  } else {
    items.leave("a NEFF for other logical cores", "this section does not load by hand; see the runtime's own tests");
  }
}

void check_cores(const Task& task, Json& out) {
  std::vector<Executor> cores;
  if (simulated(task.executor)) {
    cores = neuron::open_simulated_chip(task.executor.substr(4));
  } else {
    for (const char* name : {"neuron:0", "neuron:1"}) {
      try {
        cores.push_back(open_checked(name));
      } catch (const Error& e) {
        out["second_core"] = e.what();
      }
    }
  }
  out["cores"] = cores.size();
  Items items(out);
  constexpr std::int64_t kColumns = 512, kElements = 128 * kColumns;
  const std::vector<float> x = numbers(kElements);
  if (cores.size() < 2) {
    items.leave("two cores streaming", "fewer than two cores can be opened here");
  } else {
    items.ask("two cores streaming", "right", [&] {
      std::vector<Array<float>> in, y;
      for (std::size_t c = 0; c < 2; ++c) {
        in.push_back(Array<float>::from_host(cores[c], {kElements}, x));
        y.emplace_back(cores[c], Shape{kElements});
      }
      for (int repeat = 0; repeat < 4; ++repeat) {
        for (std::size_t c = 0; c < 2; ++c) {
          run_line(cores[c], kColumns, in[c].view().data(), 0, y[c].view().data(), 0);
        }
      }
      for (std::size_t c = 0; c < 2; ++c) {
        const std::vector<float> got = y[c].to_host();
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (got[i] != 2 * x[i] + 1) return fmt::format("core {}: element {} is wrong", c, i);
        }
      }
      return std::string("right");
    });
    items.ask("an array of another core bound to a program", "", [&] {
      const auto in = Array<float>::from_host(cores[0], {kElements}, x);
      const Array<float> y(cores[1], {kElements});
      run_line(cores[1], kColumns, in.view().data(), 0, y.view().data(), 0);
      return y.to_host() == x ? std::string("wrong") : std::string("taken");
    });
  }
  items.leave("collectives", "this version has none");
}

}  // namespace trn::tools::silicon
