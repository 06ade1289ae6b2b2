// A page about something that a modelled run is a part of: its title, facts about it, sections of its own, and then the
// run's sections. write_html() makes the page of a run alone with it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trn/neuron/report.hpp>

namespace trn::neuron::report {

struct Page {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // "command", "shape", "dtype", "machine", ...: plain text
  std::vector<std::string> sections;                       // finished HTML
  std::string run_title;                                   // over the run's sections; empty: none
};

// The page's beginning: everything up to <main>, which the caller closes with page_end().
[[nodiscard]] std::string page_begin(const std::string& title,
                                     const std::vector<std::pair<std::string, std::string>>& facts);
[[nodiscard]] std::string_view page_end();
// A table of text as a section; the first row is the header. It may be scrolled sideways where it does not fit.
[[nodiscard]] std::string table_html(const PageTable& table);

// A cell of such a table: the number and the unit of a quantity stay on one line.
[[nodiscard]] std::string cell_html(std::string_view text);
// The same beside another section of half the width, where the page is wide enough.
[[nodiscard]] std::string half_table_html(const PageTable& table);
// The same without a section around it, its title or its note.
[[nodiscard]] std::string plain_table_html(const PageTable& table);

// Throws InvalidArgument when the path cannot be written or the report is not of this machine.
void write_page(const RunReport& report, const tile::Machine& machine, const std::string& path, const Page& page);

}  // namespace trn::neuron::report
