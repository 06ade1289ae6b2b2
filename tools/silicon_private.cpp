// What a report may not hold: names of folders, of the machine and of its neighbours on the network. Texts of errors
// come from the compiler and from the operating system, so they are searched for all of these before a report leaves.
#include <unistd.h>

#include <array>
#include <cctype>
#include <regex>
#include <set>
#include <string>

#include <trn/tile/machine.hpp>

#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

// The name of this machine without its domain; empty where it says nothing, or is a word of the report itself.
std::string machine_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  const std::string found = std::string(name.data()).substr(0, std::string(name.data()).find('.'));
  std::set<std::string> words{"localhost", "host", "neuron", "sim"};
  for (const tile::Machine& machine : tile::machines()) words.insert(std::string(machine.name));
  return found.size() < 2 || words.contains(found) ? "" : found;
}

// Whole words only, with the domain that may follow.
std::string without_word(const std::string& text, const std::string& word) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
  std::string out;
  for (std::size_t from = 0;;) {
    const std::size_t at = word.empty() ? std::string::npos : text.find(word, from);
    if (at == std::string::npos) return out + text.substr(from);
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]));
    out += text.substr(from, at - from) + (whole ? "HOST" : word);
    from = end;
  }
}

}  // namespace

std::string without_places(const std::string& text) {
  // A path begins a word, with "/", "./", "../" or "~/", and has a folder in it: its last part alone stays. 1/2 and
  // TF/s are not paths.
  static const std::regex path(R"((^|[^\w./~-])(~|\.{1,2})?((?:/[\w.+@%~-]+)*)(/[\w.+@%~-]+))");
  // Addresses of four numbers in texts (versions have letters or stand alone), and names of machines as networks make
  // them: ip-10-0-0-1, host.ec2.internal.
  static const std::regex address(
      R"(\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?=[:/]\d+\b)|\bip-\d+-\d+-\d+-\d+(\.[\w-]+)*)");
  static const std::regex host(R"(\b[\w-]+(\.[\w-]+)*\.(internal|local|localdomain|lan|amazonaws\.com)\b)");
  std::string out = std::regex_replace(text, host, "HOST");
  out = std::regex_replace(out, address, "HOST");
  static const std::string machine = machine_name();
  out = without_word(out, machine);
  return std::regex_replace(out, path, "$1...$4");
}

Json report_without_places(const Json& report) {
  if (report.is_string()) return without_places(report.get<std::string>());
  Json out = report;
  if (report.is_structured()) {
    for (Json& member : out) member = report_without_places(member);
  }
  return out;
}

}  // namespace trn::tools::silicon
