// Running sections, reading reports, and what two of them say differently.
#include "silicon_report.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include <trn/core/error.hpp>
#include <trn/tile/device.hpp>

#include "silicon_choice.hpp"

namespace trn::tools::silicon {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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

// Rows of one list of a section, by what names them; `compared` are the values that must agree.
void compare_rows(const Json& a, const Json& b, const char* list, const std::vector<const char*>& keys,
                  const std::vector<const char*>& compared, const std::string& where, std::vector<std::string>& out) {
  const Json *left = member(a, list), *right = member(b, list);
  if (left == nullptr || !left->is_array()) return;
  for (const Json& row : *left) {
    const Json* other = partner(right, row, keys);
    std::string named;
    for (const char* key : keys) named += (named.empty() ? "" : ", ") + text(row, key);
    if (other == nullptr) {
      out.push_back(fmt::format("{}: {}: in the first report only", where, named));
      continue;
    }
    std::string what;
    for (const char* key : compared) {
      if (text(row, key) == text(*other, key)) continue;
      what += fmt::format("{}{} '{}' and '{}'", what.empty() ? "" : "; ", key, text(row, key), text(*other, key));
    }
    if (!what.empty()) out.push_back(fmt::format("{}: {}: {}", where, named, what));
  }
  if (right == nullptr || !right->is_array()) return;
  for (const Json& row : *right) {
    if (partner(left, row, keys) != nullptr) continue;
    std::string named;
    for (const char* key : keys) named += (named.empty() ? "" : ", ") + text(row, key);
    out.push_back(fmt::format("{}: {}: in the second report only", where, named));
  }
}

void compare_times(const Json& a, const Json& b, std::vector<std::string>& out) {
  constexpr double kApart = 0.1;
  const Json *left = member(a, "rows"), *right = member(b, "rows");
  if (left == nullptr || !left->is_array()) return;
  for (const Json& row : *left) {
    const Json* other = partner(right, row, {"kernel"});
    if (other == nullptr) continue;
    const Json *x = member(row, "measured_us"), *y = member(*other, "measured_us");
    if (x == nullptr || y == nullptr || !x->is_number() || !y->is_number()) continue;
    const double ratio = y->get<double>() / x->get<double>();
    if (std::abs(ratio - 1) > kApart) {
      out.push_back(fmt::format("time: {}: {:.2f} us and {:.2f} us, ratio {:.3f}", text(row, "kernel"),
                                x->get<double>(), y->get<double>(), ratio));
    }
  }
}

}  // namespace

Deadline::Deadline(double seconds) : end_(now() + seconds) {}
bool Deadline::over() const { return now() > end_; }

Executor open_checked(const std::string& name) { return opener()(name); }
void set_open(Open open) { opener() = std::move(open); }

std::vector<NamedSection> device_sections() {
  return {{"machine", "what runs here", check_machine},
          {"toolchain", "eight kernels through the compiler", check_toolchain},
          {"exactness", "numerical choices, one kernel each", check_choices},
          {"time", "small kernels beside the model", check_time},
          {"contract", "memory, order, bindings", check_contract},
          {"faults", "errors that are safe to make", check_faults},
          {"cores", "two cores at once", check_cores}};
}

Json run_sections(const std::string& executor, double minutes, const std::vector<NamedSection>& sections) {
  const Executor checked = open_checked(executor);
  Json report{{"format", 1},
              {"executor", executor},
              {"machine", std::string(tile::device_of(checked).machine().name)},
              {"sections", Json::array()}};
  const Task task{executor, Deadline(minutes * 60)};
  for (const NamedSection& s : sections) {
    Json out{{"name", s.name}, {"what", s.what}, {"status", "ok"}};
    const double begin = now();
    try {
      if (task.deadline.over()) {
        out["status"] = "skipped";
        out["reason"] = "the time was up";
      } else {
        s.run(task, out);
      }
    } catch (const std::exception& e) {
      out["status"] = "failed";
      out["error"] = e.what();
    }
    out["seconds"] = now() - begin;
    report["sections"].push_back(out);
  }
  return report;
}

Json read_report(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "'{}' cannot be read; give a file that trnsci silicon-check wrote", path);
  std::stringstream content;
  content << in.rdbuf();
  const Json report = Json::parse(content.str(), nullptr, false);
  const Json* format = member(report, "format");
  const Json* sections = member(report, "sections");
  require(format != nullptr && format->is_number_integer() && sections != nullptr && sections->is_array(),
          "'{}' is not a report of trnsci silicon-check", path);
  require(*format == 1, "'{}' is a report of format {}; this version reads format 1", path, format->dump());
  return report;
}

std::vector<std::string> differences(const Json& a, const Json& b) {
  std::vector<std::string> out;
  if (text(a, "machine") != text(b, "machine")) {
    out.push_back(fmt::format("machines: {} and {}", text(a, "machine"), text(b, "machine")));
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
      out.push_back(fmt::format("{}: in the {} report only", name, x == nullptr ? "second" : "first"));
      continue;
    }
    const bool both = text(*x, "status") == "failed" && text(*y, "status") == "failed";
    if (text(*x, "status") != text(*y, "status") || (both && text(*x, "error") != text(*y, "error"))) {
      const auto said = [](const Json& s) {
        return text(s, "status") + (member(s, "error") != nullptr ? " (" + text(s, "error") + ")" : "");
      };
      out.push_back(fmt::format("{}: {} and {}", name, said(*x), said(*y)));
    }
    compare_rows(*x, *y, "choices", {"number", "title"}, {"status", "rule", "found"}, "choice", out);
    compare_rows(*x, *y, "programs", {"program"}, {"status", "digest"}, "bits", out);
    compare_rows(*x, *y, "items", {"item"}, {"status", "answer"}, name, out);
    compare_rows(*x, *y, "kernels", {"kernel"}, {"status", "tensors"}, "toolchain", out);
    if (name == "time") compare_times(*x, *y, out);
  }
  return out;
}

// A row of the section "time" says which constant it shows, its value and how often it enters: what the measurement
// leaves unexplained is shared out among those times.
std::vector<std::string> moved_constants(const Json& report) {
  constexpr double kNoticed = 0.02;
  std::vector<std::string> lines;
  const Json* times = section(report, "time");
  const Json* rows = times == nullptr ? nullptr : member(*times, "rows");
  require(rows != nullptr && rows->is_array(), "the report has no section 'time' with rows; run silicon-check again");
  for (const Json& row : *rows) {
    const Json *measured = member(row, "measured_us"), *modelled = member(row, "modelled_us");
    const Json *value = member(row, "constant_us"), *count = member(row, "count");
    const auto number = [](const Json* j) { return j != nullptr && j->is_number(); };
    if (!number(measured) || !number(modelled) || !number(value) || !number(count)) continue;
    const double left = measured->get<double>() - modelled->get<double>();
    if (std::abs(left) <= kNoticed * modelled->get<double>()) continue;
    const double moved = value->get<double>() + left / count->get<double>();
    lines.push_back(fmt::format("{}: {:.4g} us would become {:.4g} us ({}: measured {:.3f} us, modelled {:.3f} us)",
                                text(row, "constant"), value->get<double>(), moved, text(row, "kernel"),
                                measured->get<double>(), modelled->get<double>()));
  }
  return lines;
}

}  // namespace trn::tools::silicon
