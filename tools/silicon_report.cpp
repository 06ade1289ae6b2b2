// Running sections, reading reports, and what two of them say differently.
#include "silicon_report.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>

#include <trn/core/error.hpp>
#include <trn/tile/device.hpp>

#include "input_file.hpp"
#include "neff/worker.hpp"
#include "silicon_choice.hpp"
#include "silicon_kernels.hpp"

namespace trn::tools::silicon {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

volatile std::sig_atomic_t stopped = 0;

// When the whole check ends: a compiler that runs then is ended, whichever section waits for it.
std::atomic<double> whole_end{0};

struct WorkersEnd {
  explicit WorkersEnd(double minutes) {
    whole_end = now() + minutes * 60;
    neuron::neff::stop_workers_when([] { return stopped != 0 || now() > whole_end; });
  }
  ~WorkersEnd() { neuron::neff::stop_workers_when(nullptr); }
  WorkersEnd(const WorkersEnd&) = delete;
  WorkersEnd& operator=(const WorkersEnd&) = delete;
};

Open& opener() {
  static Open open = [](const std::string& name) { return Executor::open(name); };
  return open;
}

const Json* member(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() ? &*at : nullptr;
}

std::string text(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value == nullptr ? "-" : value->is_string() ? value->get<std::string>() : value->dump();
}

// The row of `list` whose `keys` are those of `row`; nothing where there is none.
const Json* partner(const Json* list, const Json& row, const std::vector<const char*>& keys) {
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& other : *list) {
    bool same = true;
    for (const char* key : keys) same = same && text(row, key) == text(other, key);
    if (same) return &other;
  }
  return nullptr;
}

const Json* section(const Json& report, const std::string& name) {
  const Json* sections = member(report, "sections");
  if (sections == nullptr || !sections->is_array()) return nullptr;
  for (const Json& s : *sections) {
    if (text(s, "name") == name) return &s;
  }
  return nullptr;
}

// How many things a section left out because its time was up.
std::int64_t left_out(const Json& section) {
  const Json* count = member(section, "left_out");
  return count != nullptr && count->is_number_integer() ? count->get<std::int64_t>() : 0;
}

// Rows of one list of a section, by what names them; `compared` are the values that must agree. A row that one report
// skipped, or did not come to, is not compared.
void compare_rows(const Json& a, const Json& b, const char* list, const std::vector<const char*>& keys,
                  const std::vector<const char*>& compared, const std::string& where, Comparison& out) {
  const Json *left = member(a, list), *right = member(b, list);
  const auto name_of = [&](const Json& row) {
    std::string named;
    for (const char* key : keys) named += (named.empty() ? "" : ", ") + text(row, key);
    return named;
  };
  std::int64_t missing = 0;
  const auto alone = [&](const Json& row, const Json& other_section, const char* which) {
    if (left_out(other_section) > 0 || text(other_section, "status") == "failed") {
      ++missing;
    } else {
      out.differences.push_back(fmt::format("{}: {}: in the {} report only", where, name_of(row), which));
    }
  };
  for (const Json& row : left == nullptr ? Json::array() : *left) {
    const Json* other = partner(right, row, keys);
    if (other == nullptr) {
      alone(row, b, "first");
      continue;
    }
    const bool skipped = text(row, "status") == "skipped", other_skipped = text(*other, "status") == "skipped";
    if (skipped && other_skipped) continue;
    if (skipped || other_skipped) {
      out.not_compared.push_back(
          fmt::format("{}: {}: skipped in the {} report", where, name_of(row), skipped ? "first" : "second"));
      continue;
    }
    std::string what;
    for (const char* key : compared) {
      if (text(row, key) == text(*other, key)) continue;
      what += fmt::format("{}{} '{}' and '{}'", what.empty() ? "" : "; ", key, text(row, key), text(*other, key));
    }
    if (!what.empty()) out.differences.push_back(fmt::format("{}: {}: {}", where, name_of(row), what));
  }
  for (const Json& row : right == nullptr ? Json::array() : *right) {
    if (partner(left, row, keys) == nullptr) alone(row, a, "second");
  }
  if (missing > 0) out.not_compared.push_back(fmt::format("{}: {} that one report did not come to", where, missing));
}

void compare_times(const Json& a, const Json& b, Comparison& out) {
  constexpr double kApart = 0.1;
  const Json *left = member(a, "rows"), *right = member(b, "rows");
  if (left == nullptr || !left->is_array()) return;
  for (const Json& row : *left) {
    const Json* other = partner(right, row, {"kernel"});
    if (other == nullptr) continue;
    const Json *x = member(row, "measured_us"), *y = member(*other, "measured_us");
    if (x == nullptr || y == nullptr || !x->is_number() || !y->is_number()) continue;
    if (!(x->get<double>() > 0 && y->get<double>() > 0)) continue;  // no times
    const double ratio = y->get<double>() / x->get<double>();
    if (std::abs(ratio - 1) > kApart) {
      out.differences.push_back(fmt::format("time: {}: {:.2f} us and {:.2f} us, ratio {:.3f}", text(row, "kernel"),
                                            x->get<double>(), y->get<double>(), ratio));
    }
  }
}

bool simulated(const Json& report) { return text(report, "executor").starts_with("sim:"); }

// Values of two objects; where hardware and a simulator answer differently by their nature, a difference is a note.
void compare_values(const Json& a, const Json& b, const std::vector<const char*>& keys, bool by_nature,
                    const std::string& where, Comparison& out) {
  for (const char* key : keys) {
    const Json *x = member(a, key), *y = member(b, key);
    if (x == nullptr && y == nullptr) continue;
    if (x == nullptr || y == nullptr) {
      out.not_compared.push_back(
          fmt::format("{}: {}: in the {} report only", where, key, x == nullptr ? "second" : "first"));
    } else if (*x != *y) {
      (by_nature ? out.not_compared : out.differences)
          .push_back(fmt::format("{}: {} '{}' and '{}'", where, key, text(a, key), text(b, key)));
    }
  }
}

// What sections say beside their rows.
void compare_section(const std::string& name, const Json& x, const Json& y, bool one_simulated, Comparison& out) {
  if (name == "machine") {
    compare_values(x, y, {"core", "cores_per_chip", "hbm_bytes_per_stack", "sbuf_bytes_per_partition", "lnc"}, false,
                   name, out);
    compare_values(x, y, {"simulated", "runtime_version", "driver_version", "family", "architecture", "visible_cores"},
                   true, name, out);
  } else if (name == "toolchain") {
    compare_values(x, y, {"versions"}, true, name, out);
  } else if (name == "exactness") {
    const Json *probe = member(x, "probe_exactness"), *other = member(y, "probe_exactness");
    if (probe != nullptr && other != nullptr && probe->is_object() && other->is_object()) {
      compare_values(*probe, *other, {"exact", "reason"}, false, "exactness: probe_exactness", out);
    } else {
      compare_values(x, y, {"probe_exactness"}, false, name, out);
    }
  } else if (name == "time") {
    compare_values(x, y, {"measured_by"}, true, name, out);
  } else if (name == "cores") {
    // A simulator opens the whole chip, on hardware two cores are opened: beside one another only fewer than two count.
    const auto alone = [](const Json& s) {
      const Json* count = member(s, "cores");
      return count != nullptr && count->is_number_integer() && count->get<std::int64_t>() < 2;
    };
    compare_values(x, y, {"cores"}, one_simulated && alone(x) == alone(y), name, out);
  }
}

// A section has a name, a status and lists of rows; rows of results have a status of their own.
void check_section(const Json& s, std::size_t number, const std::string& path) {
  const auto is_text = [](const Json& object, const char* key) {
    const Json* value = member(object, key);
    return value != nullptr && value->is_string();
  };
  require(is_text(s, "name") && is_text(s, "status"),
          "'{}' is not a report of trnsci silicon-check: section {} lacks its name or status", path, number);
  for (const char* list : {"choices", "programs", "items", "kernels", "rows"}) {
    const Json* rows = member(s, list);
    if (rows == nullptr) continue;
    bool good = rows->is_array();
    for (const Json& row : good ? *rows : Json::array()) {
      good = good && row.is_object() && (std::string(list) == "rows" || is_text(row, "status"));
    }
    require(good, "'{}' is not a report of trnsci silicon-check: '{}' of section {} is not a list of results", path,
            list, number);
  }
}

}  // namespace

Deadline::Deadline(double seconds) : end_(now() + seconds) {}
bool Deadline::over() const { return stopped != 0 || now() > end_; }
void stop_early() noexcept { stopped = 1; }
bool stopped_early() noexcept { return stopped != 0; }
const char* why_left_out() noexcept { return stopped != 0 ? "the check was stopped" : "the time was up"; }
bool stopped_compiling(const std::exception& error) {
  const auto* trouble = dynamic_cast<const DeviceError*>(&error);
  return trouble != nullptr && trouble->check() == "neff-stopped";
}

Executor open_checked(const std::string& name) { return opener()(name); }
void set_open(Open open) { opener() = std::move(open); }

std::vector<NamedSection> device_sections() {
  return {{"machine", "what runs here", check_machine},
          {"toolchain", "eight kernels through the compiler", check_toolchain},
          {"exactness", "numerical choices, one kernel each", check_choices},
          {"time", "small kernels beside the model", check_time},
          {"contract", "memory, order, bindings", check_contract},
          {"faults", "errors that are safe to make", check_faults},
          {"cores", "two cores at once, collectives", check_cores},
          {"runtime", "what the runtime does with what the executor refuses", check_runtime},
          {"end", "what may cost the process its runtime", check_end}};
}

Json run_sections(const std::string& executor, double minutes, const std::vector<NamedSection>& sections,
                  const std::function<void(const Json& report)>& keep) {
  const WorkersEnd ends(minutes);
  const Executor checked = open_checked(executor);
  Json report{{"format", 1},
              {"executor", executor},
              {"machine", std::string(tile::device_of(checked).machine().name)},
              {"sections", Json::array()}};
  const double end = now() + minutes * 60;
  for (const NamedSection& s : sections) {
    const Task task{executor, Deadline(s.share * (end - now()))};
    Json out{{"name", s.name}, {"what", s.what}, {"status", "ok"}};
    const double begin = now();
    try {
      if (task.deadline.over()) {
        out["status"] = "skipped";
        out["reason"] = why_left_out();
      } else {
        s.run(task, out);
        if (out["status"] == "ok" && left_out(out) > 0) out["status"] = "cut";
        if (left_out(out) > 0 && !out.contains("left_why")) out["left_why"] = why_left_out();
      }
    } catch (const std::exception& e) {
      if (stopped_compiling(e)) {  // of what it would have asked one question is known
        out["left_out"] = left_out(out) + 1;
        out["left_why"] = why_left_out();
        if (out["status"] == "ok") out["status"] = "cut";
      } else {
        out["status"] = "failed";
        out["error"] = e.what();
      }
    }
    out["seconds"] = now() - begin;
    report["sections"].push_back(report_without_places(out));
    if (keep) keep(report);
  }
  return report;
}

Json read_report(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "'{}' cannot be read; give a file that trnsci silicon-check wrote", path);
  std::stringstream content;
  content << in.rdbuf();
  return parse_report(content.str(), path);
}

Json parse_report(const std::string& text, const std::string& path) {
  require_shallow(path, text, "give a file that trnsci silicon-check wrote");
  const Json report = Json::parse(text, nullptr, false);
  const Json* format = member(report, "format");
  const Json* sections = member(report, "sections");
  require(format != nullptr && format->is_number_integer() && sections != nullptr && sections->is_array(),
          "'{}' is not a report of trnsci silicon-check", path);
  require(*format == 1, "'{}' is a report of format {}; this version reads format 1", path, format->dump());
  for (std::size_t i = 0; i < sections->size(); ++i) check_section((*sections)[i], i + 1, path);
  return report;
}

Comparison compare(const Json& a, const Json& b) {
  Comparison out;
  if (text(a, "machine") != text(b, "machine")) {
    out.differences.push_back(fmt::format("machines: {} and {}", text(a, "machine"), text(b, "machine")));
  }
  std::vector<std::string> names;
  for (const Json* report : {&a, &b}) {
    for (const Json& s : *member(*report, "sections")) {
      if (std::find(names.begin(), names.end(), text(s, "name")) == names.end()) names.push_back(text(s, "name"));
    }
  }
  for (const std::string& name : names) {
    const Json *x = section(a, name), *y = section(b, name);
    if (x == nullptr || y == nullptr) {
      out.not_compared.push_back(fmt::format("{}: in the {} report only", name, x == nullptr ? "second" : "first"));
      continue;
    }
    const bool skipped = text(*x, "status") == "skipped", other_skipped = text(*y, "status") == "skipped";
    if (skipped || other_skipped) {
      const char* which = skipped && other_skipped ? "both reports"
                          : skipped                ? "the first report"
                                                   : "the second report";
      out.not_compared.push_back(fmt::format("{}: skipped in {}", name, which));
      continue;
    }
    const bool both = text(*x, "status") == "failed" && text(*y, "status") == "failed";
    // Of a section that was cut the rows alone say what differs.
    const bool cut = text(*x, "status") == "cut" || text(*y, "status") == "cut";
    const bool failed = text(*x, "status") == "failed" || text(*y, "status") == "failed";
    if ((text(*x, "status") != text(*y, "status") && (failed || !cut)) ||
        (both && text(*x, "error") != text(*y, "error"))) {
      const auto said = [](const Json& s) {
        return text(s, "status") + (member(s, "error") != nullptr ? " (" + text(s, "error") + ")" : "");
      };
      out.differences.push_back(fmt::format("{}: {} and {}", name, said(*x), said(*y)));
    }
    compare_rows(*x, *y, "choices", {"number", "title"}, {"status", "rule", "found", "differing"}, "choice", out);
    compare_rows(*x, *y, "programs", {"program"}, {"status", "digest"}, name, out);
    compare_rows(*x, *y, "items", {"item"}, {"status", "answer"}, name, out);
    compare_rows(*x, *y, "kernels", {"kernel"}, {"status", "tensors"}, "toolchain", out);
    if (!failed) compare_section(name, *x, *y, simulated(a) != simulated(b), out);
    if (name == "time") compare_times(*x, *y, out);
  }
  return out;
}

// A row of the section "time" says which constant it shows, its value and how often it enters: what the measurement
// leaves unexplained is shared out among those times.
std::vector<std::string> moved_constants(const Json& report) {
  constexpr double kNoticed = 0.02;
  const Json* times = section(report, "time");
  const Json* rows = times == nullptr ? nullptr : member(*times, "rows");
  require(rows != nullptr && rows->is_array(), "the report has no section 'time' with rows; run silicon-check again");
  struct Timed {
    const Json* row;
    double measured, modelled, value, count;
  };
  std::vector<Timed> timed;
  double launch = 0;  // measured less modelled; a part of every kernel's time
  for (const Json& row : *rows) {
    if (member(row, "constant") == nullptr) continue;  // how fast it goes is the answer
    const auto positive = [&](const char* key) {
      const Json* value = member(row, key);
      const double number = value != nullptr && value->is_number() ? value->get<double>() : 0;
      // Within these, what is computed from two of them is a number; no clock and no kernel comes near.
      require(number >= 1e-9 && number <= 1e15,
              "the report's kernel '{}' has no {} that can be; run silicon-check again", text(row, "kernel"), key);
      return number;
    };
    timed.push_back(
        {&row, positive("measured_us"), positive("modelled_us"), positive("constant_us"), positive("count")});
    if (text(row, "constant") == kLaunchConstant) launch = timed.back().measured - timed.back().modelled;
  }
  require(!timed.empty(), "the report has no measured constants (section 'time' is {}); run silicon-check again",
          text(*times, "status"));
  std::vector<std::string> lines;
  for (const Timed& t : timed) {
    const bool is_launch = text(*t.row, "constant") == kLaunchConstant;
    const double left = t.measured - t.modelled - (is_launch ? 0 : launch);
    if (std::abs(left) <= kNoticed * t.modelled) continue;
    const double moved = t.value + left / t.count;
    const std::string to = moved > 0 ? fmt::format("{:.4g} us", moved) : "less than nothing: other constants are off";
    lines.push_back(fmt::format("{}: {:.4g} us would become {} ({}: measured {:.3f} us, modelled {:.3f} us)",
                                text(*t.row, "constant"), t.value, to, text(*t.row, "kernel"), t.measured, t.modelled));
  }
  return lines;
}

}  // namespace trn::tools::silicon
