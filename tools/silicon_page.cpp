// The report of silicon-check in the frame of the report pages: one card per section, and one for each of its lists.
// The JSON file stays what programs read.
#include <algorithm>

#include <fmt/format.h>

#include <trn/core/output_file.hpp>

#include "output.hpp"
#include "report/page.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

// A value as people read it: lists with commas, objects as "key value".
std::string text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::string all;
  for (const auto& [key, one] : value.items()) {
    const std::string shown = text(one);
    if (shown.empty()) continue;
    all += (all.empty() ? "" : ", ") + (value.is_object() ? key + " " : "") + shown;
  }
  return all;
}
std::string text(const Json& row, const std::string& key) {
  const auto at = row.find(key);
  if (at == row.end()) return "";
  if (key == "seconds" && at->is_number()) return duration(at->get<double>());
  if (key.ends_with("_bytes") || key.find("bytes_per") != std::string::npos) {
    if (at->is_number()) return bytes(at->get<double>());
  }
  return text(*at);
}
// "hbm_bytes_per_stack" as words, without the unit that the value shows.
std::string words(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

bool is_table(const Json& value) { return value.is_array() && !value.empty() && value[0].is_object(); }

// Rows have too many columns for a phone: the number, the name and the status first, and the others under them.
std::string table(const std::string& title, const Json& rows) {
  neuron::PageTable t{words(title), "", {{"", "what", "status"}}};
  for (const Json& row : rows) {
    if (!row.is_object()) return "";
    std::string name, number = text(row, "number"), rest;
    for (const char* key : {"title", "name", "kernel", "program", "item"}) {
      if (name.empty()) name = text(row, key);
    }
    for (const auto& [key, value] : row.items()) {
      const std::string shown = text(row, key);
      if (key == "number" || key == "status" || shown.empty() || shown == name) continue;
      rest += fmt::format("{}{} {}", rest.empty() ? "" : "; ", words(key), shown);
    }
    t.rows.push_back({number, name.empty() ? rest : name + (rest.empty() ? "" : ": " + rest), text(row, "status")});
  }
  return neuron::report::table_html(t);
}

std::string card(const Json& section) {
  neuron::PageTable facts{
      fmt::format("{}: {}", text(section, "name"), text(section, "status")), text(section, "what"), {}};
  std::string tables;
  for (const auto& [key, value] : section.items()) {
    if (key == "name" || key == "status" || key == "what") continue;
    if (is_table(value)) {
      tables += table(key, value);
    } else {
      if (facts.rows.empty()) facts.rows.push_back({"what", "value"});
      facts.rows.push_back({words(key), text(section, key)});
    }
  }
  return neuron::report::table_html(facts) + tables;
}

}  // namespace

void write_page(const Json& report, const std::string& path) {
  OutputFile out("--html", path);
  std::size_t sections = 0, wrong = 0;
  for (const Json& section : report["sections"]) ++sections, wrong += text(section, "status") == "ok" ? 0 : 1;
  out.write(neuron::report::page_begin(
      fmt::format("silicon-check of {}", text(report, "executor")),
      {{"command", command_line()},
       {"shape", fmt::format("{} sections, {} of them not ok", sections, wrong)},
       {"dtype", "each kernel its own"},
       {"machine", fmt::format("{} as {}", text(report, "machine"), text(report, "executor"))},
       {"version", fmt::format("trnsci {}", text(report, "version"))}}));
  for (const Json& section : report["sections"]) out.write(card(section));
  out.write(neuron::report::page_end());
  out.commit();
}

}  // namespace trn::tools::silicon
