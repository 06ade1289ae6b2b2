// `trnsci compare A.json B.json`: what two runs measured, side by side. Takes what any command wrote with --json: rows
// are matched by what they are about (operation, executor, type, shape), not by their place; numbers are shown with
// their ratio.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>

#include "commands.hpp"
#include "compare.hpp"
#include "input_file.hpp"
#include "output.hpp"
#include "report/format.hpp"
#include "report/page.hpp"

namespace trn::tools {

namespace {

using Json = nlohmann::ordered_json;

// The numbers and texts of one object, by key; keys of objects within are joined by dots.
struct Row {
  std::string title;
  std::vector<std::pair<std::string, Json>> values;
};

// What says which row it is. Everything else was measured or computed.
constexpr const char* kIdentity[] = {"op",        "operation", "name",     "executor", "machine", "dtype",
                                     "precision", "program",   "molecule", "basis",    "kind",    "stage"};

// Control characters of a file do not reach the terminal.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string title_of(const Json& object) {
  std::string title;
  const auto append = [&](const std::string& word) { title += (title.empty() ? "" : " ") + word; };
  for (const char* key : kIdentity) {
    const auto at = object.find(key);
    if (at != object.end() && at->is_string() && !at->get<std::string>().empty())
      append(printable(at->get<std::string>()));
  }
  const auto shape = object.find("shape");
  if (shape != object.end() && shape->is_object()) {
    for (const auto& [key, value] : shape->items()) append(fmt::format("{}={}", key, value.dump()));
  }
  return title;
}

bool is_identity(const std::string& key) {
  return key == "version" || key == "command" || key == "repeat" || key == "shape" || key == "geometry" ||
         std::any_of(std::begin(kIdentity), std::end(kIdentity), [&](const char* k) { return key == k; });
}

// The rows of a file: an array's objects, an object itself, and the arrays of objects inside it, each title once.
// `taken`: the titles so far, with the number that the last repetition of each has.
void collect(const Json& json, const std::string& prefix, std::vector<Row>& rows, std::map<std::string, int>& taken) {
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string own = json[i].is_object() ? title_of(json[i]) : "";
      const std::string title = prefix + (prefix.empty() ? "" : ": ") + (own.empty() ? fmt::format("{}", i + 1) : own);
      collect(json[i].is_object() ? json[i] : Json{{"value", json[i]}}, title, rows, taken);
    }
    return;
  }
  const std::string own = prefix.empty() ? title_of(json) : prefix;
  Row row;
  row.title = own;
  while (!taken.try_emplace(row.title, 1).second) row.title = fmt::format("{} ({})", own, ++taken[own]);
  const std::size_t place = rows.size();
  rows.push_back({row.title, {}});
  const auto add = [&](const auto& self, const Json& object, const std::string& path) -> void {
    for (const auto& [key, value] : object.items()) {
      if (path.empty() && is_identity(key)) continue;
      const std::string name = path.empty() ? key : path + "." + key;
      const bool list = value.is_array() && !value.empty() && value[0].is_object();
      if (list) {
        collect(value, row.title.empty() ? name : row.title + ", " + name, rows, taken);
      } else if (value.is_object()) {
        self(self, value, name);
      } else {
        row.values.emplace_back(name, value);
      }
    }
  };
  add(add, json, "");
  rows[place] = std::move(row);
}

// A file: its rows, and the command that made it with all its options.
struct Run {
  std::string path, command;
  std::vector<Row> rows;
};

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

Run parse_run(const std::string& text, const std::string& path) {
  require_shallow(path, text, "give what trnsci wrote with --json");
  const Json json = Json::parse(text, nullptr, false);
  require(json.is_object() || json.is_array(),
          "'{}' is not JSON of an object or a list; give what trnsci wrote with --json", path);
  Run run{path, "", {}};
  const Json first = json.is_array() ? (json.empty() || !json[0].is_object() ? Json::object() : json[0]) : json;
  run.command = text_of(first, "command");
  // The line that repeats a row has the options that the command left out; of several rows it is the first one's.
  if (const std::string again = text_of(first, "repeat"); !again.empty() && json.size() == 1) run.command = again;
  std::map<std::string, int> taken;
  collect(json, "", run.rows, taken);
  std::erase_if(run.rows, [](const Row& row) { return row.values.empty(); });
  return run;
}

Run read_run(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "'{}' cannot be read; give a file that trnsci wrote with --json", path);
  std::stringstream content;
  content << in.rdbuf();
  return parse_run(content.str(), path);
}

struct Difference {
  std::string key, a, b;
  double ratio = NAN;  // b / a of two numbers of one sign
};
struct Compared {
  std::string title;
  std::vector<Difference> differences;
};
struct Comparison {
  std::vector<Compared> rows;
  std::vector<std::string> only_a, only_b;
  std::int64_t equal = 0, different = 0, near = 0;  // near: numbers that --above leaves out
  std::int64_t times = 0;
  double log_time = 0;  // sum of the logarithms of their ratios
};

std::string shown(const std::string& key, const Json& value) {
  if (!value.is_number()) return value.is_string() ? printable(value.get<std::string>()) : value.dump();
  const double number = value.get<double>();
  if (key.ends_with("seconds")) return duration(number);
  if (key.ends_with("_bytes")) return neuron::report::bytes_text(number);
  return value.is_number_integer() ? value.dump() : fmt::format("{:.6g}", number);
}

Comparison compare(const std::vector<Row>& a, const std::vector<Row>& b, double above) {
  Comparison result;
  const auto find = [](const auto& list, const auto& name, auto member) {
    return std::find_if(list.begin(), list.end(), [&](const auto& x) { return x.*member == name; });
  };
  const auto by_title = [](const std::vector<Row>& rows) {
    std::map<std::string, const Row*> all;
    for (const Row& row : rows) all.emplace(row.title, &row);
    return all;
  };
  const auto of_a = by_title(a), of_b = by_title(b);
  for (const Row& row : a) {
    const auto found = of_b.find(row.title);
    if (found == of_b.end()) {
      result.only_a.push_back(row.title);
      continue;
    }
    const Row* const other = found->second;
    Compared compared{row.title, {}};
    for (const auto& [key, value] : row.values) {
      const auto there = find(other->values, key, &std::pair<std::string, Json>::first);
      Difference d{key, shown(key, value), there == other->values.end() ? "-" : shown(key, there->second)};
      if (there != other->values.end() && value.is_number() && there->second.is_number()) {
        const double x = value.get<double>(), y = there->second.get<double>();
        if (x * y > 0) d.ratio = y / x;
        // Of a row with a modelled and a measured time both; parts of a time are not counted a second time.
        const bool whole = key == "seconds" || key == "modelled_seconds";
        if (x * y > 0 && whole) ++result.times, result.log_time += std::log(d.ratio);
        if (x == y) {
          ++result.equal;
          continue;
        }
        if (x * y > 0 && std::max(d.ratio, 1 / d.ratio) <= 1 + above) {
          ++result.near;
          continue;
        }
      } else if (there != other->values.end() && value == there->second) {
        ++result.equal;
        continue;
      }
      ++result.different;
      compared.differences.push_back(std::move(d));
    }
    for (const auto& [key, value] : other->values) {
      if (find(row.values, key, &std::pair<std::string, Json>::first) != row.values.end()) continue;
      ++result.different;
      compared.differences.push_back({key, "-", shown(key, value)});
    }
    if (!compared.differences.empty()) result.rows.push_back(std::move(compared));
  }
  for (const Row& row : b) {
    if (!of_a.contains(row.title)) result.only_b.push_back(row.title);
  }
  return result;
}

std::string counts_text(const Comparison& c) {
  return fmt::format("{} values differ, {} are equal{}", c.different, c.equal,
                     c.near == 0 ? "" : fmt::format(", {} differ by less than --above", c.near));
}

std::string ratio_text(double ratio) { return std::isnan(ratio) ? "-" : fmt::format("{:.3g}", ratio); }

std::string times_text(const Comparison& c) {
  return fmt::format("times: {} of second to first, the geometric mean of {}",
                     ratio_text(std::exp(c.log_time / static_cast<double>(c.times))), c.times);
}

void print(const Comparison& c) {
  for (const Compared& row : c.rows) {
    say_text(row.title.empty() ? "(the whole)" : row.title);
    Table table({"", "first", "second", "ratio"});
    for (const Difference& d : row.differences) table.add({"  " + d.key, d.a, d.b, ratio_text(d.ratio)});
    table.print();
  }
  if (c.different + c.equal + c.near == 0 && !c.only_a.empty() && !c.only_b.empty()) {
    say("no row is in both; compare runs of one command with the same sizes");
  }
  for (const std::string& title : c.only_a) say("only in the first: {}", title);
  for (const std::string& title : c.only_b) say("only in the second: {}", title);
  if (c.times > 0) say_text(times_text(c));
  say_text(counts_text(c));
}

// A bar for a ratio: from the middle to the right above 1, to the left below, a factor of 4 at the edge.
std::string bar(double ratio) {
  if (std::isnan(ratio)) return "";
  const double half = 50 * std::clamp(std::log(ratio) / std::log(4.0), -1.0, 1.0);
  return fmt::format(
      "<svg viewBox=\"0 0 100 10\" width=\"120\" height=\"12\" role=\"img\" aria-label=\"ratio {0}\"><line "
      "x1=\"50\" x2=\"50\" y1=\"0\" y2=\"10\" stroke=\"currentColor\"/><rect x=\"{1:.2f}\" y=\"2\" width=\"{2:.2f}\" "
      "height=\"6\" fill=\"{3}\"/></svg>",
      ratio_text(ratio), half < 0 ? 50 + half : 50, std::abs(half), half < 0 ? "#2a78d6" : "#d97a1f");
}

// Shape, type and machine of the runs are in the commands that made them, and of each row in its title.
void write_page(const Comparison& c, const Run& first, const Run& second, OutputFile& out) {
  using neuron::report::html_escaped;
  const auto fact = [](const Run& run) {
    return printable(run.path) + (run.command.empty() ? "" : ": " + printable(run.command));
  };
  out.write(neuron::report::page_begin("Two runs of trnsci", {{"command", command_line()},
                                                              {"first", fact(first)},
                                                              {"second", fact(second)},
                                                              {"version", fmt::format("trnsci {}", TRN_VERSION)}}));
  if (c.times > 0) out.print("<p class=\"part\">{}</p>\n", times_text(c));
  out.print("<p class=\"part\">{}. A bar to the right: the second is larger; its edge is a factor of 4.</p>\n",
            counts_text(c));
  for (const Compared& row : c.rows) {
    out.print(
        "<section "
        "class=\"card\"><h2>{}</h2>\n<table "
        "class=\"text\">\n<tr><th>value</th><th>first</th><th>second</th><th>ratio</th><th></th></tr>\n",
        row.title.empty() ? "The whole" : html_escaped(row.title));
    for (const Difference& d : row.differences) {
      out.print("<tr>{}{}{}<td>{}</td><td>{}</td></tr>\n", neuron::report::cell_html(d.key),
                neuron::report::cell_html(d.a), neuron::report::cell_html(d.b), ratio_text(d.ratio), bar(d.ratio));
    }
    out.write("</table>\n</section>\n");
  }
  for (const auto& [what, titles] : {std::pair{"first", &c.only_a}, {"second", &c.only_b}}) {
    if (titles->empty()) continue;
    out.print("<section class=\"card\"><h2>Only in the {}</h2>\n<ul>\n", what);
    for (const std::string& title : *titles) out.print("<li>{}</li>\n", html_escaped(title));
    out.write("</ul>\n</section>\n");
  }
  out.write(neuron::report::page_end());
  out.commit();
}

Json json_of(const Comparison& c) {
  Json out{
      {"different", c.different}, {"equal", c.equal}, {"near", c.near}, {"times", c.times}, {"time_ratio", nullptr}};
  if (c.times > 0) out["time_ratio"] = std::exp(c.log_time / static_cast<double>(c.times));
  out["rows"] = Json::array();
  for (const Compared& row : c.rows) {
    Json one{{"row", row.title}, {"differences", Json::array()}};
    for (const Difference& d : row.differences) {
      one["differences"].push_back({{"key", d.key}, {"first", d.a}, {"second", d.b}, {"ratio", nullptr}});
      if (!std::isnan(d.ratio)) one["differences"].back()["ratio"] = d.ratio;
    }
    out["rows"].push_back(std::move(one));
  }
  out["only_first"] = c.only_a;
  out["only_second"] = c.only_b;
  return out;
}

struct Arguments {
  std::string first, second, html, json;
  double above = 0;
};

void run(const Arguments& a) {
  require_readable("compare", a.first);
  require_readable("compare", a.second);
  require_different_files({{"--html", a.html}, {"--json", a.json}});
  require(a.html != "-", "--html: the page goes to a file; '-' is for --json alone");
  if (!a.html.empty()) const OutputFile claim("--html", a.html);  // a bad path costs nothing
  JsonFile json(a.json);
  const Run first = read_run(a.first), second = read_run(a.second);
  const Comparison c = compare(first.rows, second.rows, a.above);
  if (!json.replaces_text()) print(c);
  if (!a.html.empty()) {
    OutputFile page("--html", a.html);
    write_page(c, first, second, page);
  }
  json.write(json_of(c));
}

}  // namespace

std::string compared_texts(const std::string& first, const std::string& second) {
  return json_of(compare(parse_run(first, "first").rows, parse_run(second, "second").rows, 0)).dump();
}

void add_compare(Command& program) {
  Command sub = program.add("compare", "two runs side by side, from what they wrote with --json");
  auto a = std::make_shared<Arguments>();
  sub.text("first", a->first, "a JSON file of any command").required().reads();
  sub.text("second", a->second, "another one of the same command").required().reads();
  sub.real("--above", a->above, "leave out numbers whose ratio is below 1 + this, 0 to 1e6", 0, 1e6);
  sub.text("--html", a->html, "write the comparison as a page to this file");
  sub.text("--json", a->json, kJsonHelp);
  sub.run([a] { run(*a); });
}

}  // namespace trn::tools
