// write_html: one page that needs nothing but itself. It puts the sections of html_parts.hpp in order; style and script
// stand in their own sources.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>
#include <trn/neuron/report.hpp>

#include "format.hpp"
#include "html_parts.hpp"
#include "page.hpp"

namespace trn::neuron {

namespace {

using namespace report;

// {0}: title, {1}: style
constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{0}</title>
<style>{1}</style>
</head>
<body>
)";

// {0}: note
constexpr std::string_view kTimeline = R"(<section class="card" id="timeline">
<div class="bar"><h2>Engine timeline</h2>
<div class="buttons"><button data-do="home">Whole timeline</button><button data-do="detail">Every instruction</button><button data-do="in" aria-label="Zoom in">+</button><button data-do="out" aria-label="Zoom out">&minus;</button></div></div>
<p class="note">{0}</p>
<canvas id="lanes" tabindex="0" aria-label="Timeline of every lane; wheel zooms, drag or arrow keys pan"></canvas>
<canvas id="strip" aria-hidden="true"></canvas>
<p class="hint">The wheel, + and &minus; zoom, dragging pans, a double click shows everything again; the strip under the lanes is the whole timeline. Point at a bar, or touch it, for its instruction.</p>
<div id="tip" hidden></div>
</section>
)";

// {0}: the run's title
constexpr std::string_view kRunTitle = "<h2 class=\"part\">{0}</h2>\n";

constexpr std::string_view kModelled =
    "<p class=\"part\"><span class=\"badge\">MODELLED</span> {1}, one {2} core: times come from the simulator's timing "
    "model, not from hardware. Program: {0}.</p>\n";

}  // namespace

namespace report {

namespace {

// Browsers break lines after a hyphen, also between the two of "--dtype": options of a command stay whole.
std::string unbroken_options(const std::string& text) {
  std::string html;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    html += word.starts_with("--") ? "<span class=\"word\">" + word + "</span>" : word;
    if (end < text.size()) html += ' ';
    at = end + 1;
  }
  return html;
}

}  // namespace

std::string page_begin(const std::string& title, const std::vector<std::pair<std::string, std::string>>& facts) {
  const std::string name = html_escaped(title);
  std::string html = fmt::format(kHead, name, page_style()) + fmt::format("<header>\n<h1>{}</h1>\n", name);
  if (!facts.empty()) {
    html += "<dl class=\"about\">\n";
    for (const auto& [what, text] : facts)
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_escaped(what), unbroken_options(html_escaped(text)));
    html += "</dl>\n";
  }
  return html + "</header>\n<main>\n";
}

std::string_view page_end() { return "</main>\n</body>\n</html>\n"; }

namespace {
std::string table_section(const PageTable& table, std::string_view classes) {
  return fmt::format("<section class=\"{}\"><h2>{}</h2>\n<p class=\"note\">{}</p>\n{}</section>\n", classes,
                     html_escaped(table.title), html_escaped(table.note), plain_table_html(table));
}
}  // namespace

std::string table_html(const PageTable& table) { return table_section(table, "card"); }
std::string half_table_html(const PageTable& table) { return table_section(table, "card half"); }

std::string cell_html(std::string_view text) {
  constexpr std::size_t kLong = 40, kUnit = 7;  // a sentence, which may break anywhere; "GFLOP/s"
  const std::size_t space = text.find(' ');
  const bool number = !text.empty() && text.substr(0, space).find_first_not_of("0123456789.,+-e") == text.npos;
  const bool unit = space != text.npos && text.size() - space - 1 <= kUnit && text.find(' ', space + 1) == text.npos;
  const bool quantity = number && (unit || (space == text.npos && text.find("e-") != text.npos));
  std::string html;
  for (const char c : html_escaped(text)) html += c == '_' ? "_<wbr>" : std::string(1, c);  // names break there
  constexpr std::string_view kArrow = "-&gt;";                                              // and arrows do not
  for (std::size_t at = html.find(kArrow); at != html.npos; at = html.find(kArrow, at)) {
    const std::string whole = fmt::format("<span class=\"word\">{}</span>", kArrow);
    html.replace(at, kArrow.size(), whole);
    at += whole.size();
  }
  const char* kind = text.size() > kLong ? " class=\"long\"" : quantity ? " class=\"quantity\"" : "";
  return fmt::format("<td{}>{}</td>", kind, html);
}

std::string plain_table_html(const PageTable& table) {
  if (table.rows.empty()) return "";
  std::string html = "<table class=\"text\">\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += "<tr>";
    for (const std::string& cell : table.rows[r]) {
      html += r == 0 ? fmt::format("<th>{}</th>", html_escaped(cell)) : cell_html(cell);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

void write_page(const RunReport& report, const tile::Machine& machine, const std::string& path, const Page& page) {
  require(report.machine == machine.name, "write_html: the report is of a run on '{}', but the machine given is '{}'",
          report.machine, machine.name);
  require_drawable(report, "write_html");
  const std::vector<OpcodeUse> uses = opcode_uses(report);
  const std::string program = html_escaped(report.program.empty() ? "unnamed program" : report.program);

  OutputFile out("write_html", path);
  out.write(page_begin(page.title, page.facts));
  for (const std::string& section : page.sections) out.write(section);
  if (!page.run_title.empty()) out.print(kRunTitle, html_escaped(page.run_title));
  out.print(kModelled, program, html_escaped(report.machine), html_escaped(machine.core));
  out.write(headline_html(report, machine));
  if (!report.intervals.empty()) {
    out.print(kTimeline, html_escaped(cut_note(report)));
  } else {
    const std::string note = cut_note(report);
    out.print("<section class=\"card\"><h2>Engine timeline</h2><p class=\"note\">{}</p></section>\n",
              html_escaped(note.empty() ? "The program executed no instruction." : note));
  }
  out.write("<div class=\"column\">\n" + utilisation_html(report) + opcodes_html(report, uses) + "</div>\n");
  out.write("<div class=\"column\">\n" + roofline_html(report, machine) + bytes_html(report, machine) + "</div>\n");
  if (!report.intervals.empty()) {
    out.print("<script type=\"application/json\" id=\"data\">{}</script>\n", timeline_json(report, uses));
    out.print("<script>{}</script>\n", page_script());
  }
  out.write(page_end());
  out.commit();
}

}  // namespace report

void write_html(const RunReport& run, const tile::Machine& machine, const std::string& path,
                const std::vector<PageTable>& tables) {
  Page page;
  page.title = fmt::format("{} on {}, modelled", run.program.empty() ? "unnamed program" : run.program, run.machine);
  for (const PageTable& table : tables) page.sections.push_back(table_html(table));
  write_page(run, machine, path, page);
}

}  // namespace trn::neuron
