// The report of silicon-check as a web page, in the style of the run reports: one card per section, a table for each
// list of rows. The JSON file stays what programs read.
#include <fmt/format.h>

#include <trn/core/output_file.hpp>

#include "output.hpp"
#include "report/format.hpp"
#include "report/html_parts.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

using neuron::report::html_escaped;

std::string cell(const Json& row, const std::string& key) {
  const auto at = row.find(key);
  if (at == row.end() || at->is_null()) return "";
  if (at->is_number_float()) return fmt::format("{:.6g}", at->get<double>());
  return html_escaped(at->is_string() ? at->get<std::string>() : at->dump());
}

// The columns are the keys of the first rows, in their order.
std::string table(const Json& rows) {
  std::vector<std::string> keys;
  for (const Json& row : rows) {
    if (!row.is_object()) return "";
    for (const auto& [key, value] : row.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::string html = "<table>\n<tr>";
  for (const std::string& key : keys) html += "<th>" + html_escaped(key) + "</th>";
  html += "</tr>\n";
  for (const Json& row : rows) {
    html += "<tr>";
    for (const std::string& key : keys) html += "<td>" + cell(row, key) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string card(const Json& section) {
  std::string html = fmt::format("<section class=\"card\"><h2>{}: {}</h2>\n<p class=\"note\">{}</p>\n",
                                 cell(section, "name"), cell(section, "status"), cell(section, "what"));
  std::string facts;
  for (const auto& [key, value] : section.items()) {
    if (key == "name" || key == "status" || key == "what" ||
        (value.is_array() && !value.empty() && value[0].is_object()))
      continue;
    facts += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", html_escaped(key), cell(section, key));
  }
  if (!facts.empty()) html += "<table>\n" + facts + "</table>\n";
  for (const auto& [key, value] : section.items()) {
    if (value.is_array() && !value.empty() && value[0].is_object()) {
      html += fmt::format("<h2>{}</h2>\n", html_escaped(key)) + table(value);
    }
  }
  return html + "</section>\n";
}

}  // namespace

void write_page(const Json& report, const std::string& path) {
  OutputFile out("--html", path);
  const std::string title = fmt::format("silicon-check of {}", cell(report, "executor"));
  out.print(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
      "<header><h1>{0}</h1>\n<p>{2}, trnsci {3}<br>{4}</p></header>\n<main>\n",
      title, neuron::report::page_style(), cell(report, "machine"), cell(report, "version"),
      html_escaped(command_line()));
  for (const Json& section : report["sections"]) out.write(card(section));
  out.write("</main>\n</body>\n</html>\n");
  out.commit();
}

}  // namespace trn::tools::silicon
