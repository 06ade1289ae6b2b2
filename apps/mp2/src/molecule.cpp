// Reading .xyz files, and what follows from the nuclei alone.
#include <trn/mp2/molecule.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include <trn/core/error.hpp>
#include <trn/mp2/element.hpp>

namespace trn::mp2 {

namespace {

constexpr double kFarthestAngstrom = 1e6;
constexpr int kLargestCharge = 1'000'000;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Of a line or word, for a message of one line: what is not printable ASCII as '?', and no more than 60 of them.
std::string shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  }
  return text.size() <= 60 ? text : text.substr(0, 60) + "...";
}

double distance(const Atom& a, const Atom& b) {
  return std::hypot(a.position[0] - b.position[0], a.position[1] - b.position[1], a.position[2] - b.position[2]);
}

double coordinate(const std::string& word, const std::string& source, std::size_t line) {
  double value = 0;
  std::string read = word.substr(word.starts_with('+') ? 1 : 0);
  if (const std::size_t d = read.find_first_of("dD"); d != std::string::npos) read[d] = 'e';  // Fortran's 1.0D+00
  const auto [end, error] = std::from_chars(read.data(), read.data() + read.size(), value);
  require(error == std::errc() && end == read.data() + read.size() && std::isfinite(value),
          "mp2: {}:{}: '{}' is not a coordinate; expected 'symbol x y z' with three finite numbers in angstrom", source,
          line, shown(word));
  require(std::abs(value) <= kFarthestAngstrom,
          "mp2: {}:{}: '{}' is beyond {} angstrom; expected coordinates in angstrom", source, line, shown(word),
          kFarthestAngstrom);
  return value;
}

std::size_t atom_count(const std::string& line, const std::string& source) {
  const std::vector<std::string> words = words_of(line);
  std::size_t count = 0;
  const bool one = words.size() == 1;
  const auto [end, error] = one ? std::from_chars(words[0].data(), words[0].data() + words[0].size(), count)
                                : std::from_chars_result{nullptr, std::errc::invalid_argument};
  require(one && error == std::errc() && end == words[0].data() + words[0].size() && count > 0,
          "mp2: {}:1: '{}' is not a number of atoms; expected a positive whole number alone on the first line", source,
          shown(line));
  return count;
}

}  // namespace

Molecule parse_xyz(const std::string& text, const std::string& source, const XyzOptions& options) {
  require(options.bohr_in_angstrom > 0.5 && options.bohr_in_angstrom < 0.6,
          "mp2: one bohr is {} angstrom; give a value near {}", options.bohr_in_angstrom, kBohrInAngstrom);
  require(std::abs(static_cast<std::int64_t>(options.charge)) <= kLargestCharge,
          "mp2: charge {:+d}; expected at most {} in size", options.charge, kLargestCharge);
  std::vector<std::string> lines;
  std::istringstream in(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text);  // without a byte-order mark
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  require(!lines.empty(), "mp2: {}:1: the file is empty; expected the number of atoms on the first line", source);
  const std::size_t count = atom_count(lines[0], source);
  Molecule molecule;
  molecule.charge = options.charge;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t number = i + 3;  // lines count from 1
    require(number <= lines.size() && !words_of(lines[number - 1]).empty(),
            "mp2: {}:{}: the file ends after {} of {} atoms; expected 'symbol x y z'", source, number, i, count);
    const std::vector<std::string> words = words_of(lines[number - 1]);
    require(words.size() == 4, "mp2: {}:{}: '{}' has {} columns; expected 'symbol x y z'", source, number,
            shown(lines[number - 1]), words.size());
    Atom atom;
    atom.ghost = words[0].starts_with('@');
    atom.number = atomic_number(words[0].substr(atom.ghost ? 1 : 0));
    require(atom.number > 0, "mp2: {}:{}: element '{}' is not known; expected one of {}", source, number,
            shown(words[0]), known_elements());
    for (std::size_t k = 0; k < 3; ++k)
      atom.position[k] = coordinate(words[k + 1], source, number) / options.bohr_in_angstrom;
    for (std::size_t j = 0; j < i; ++j) {
      const double apart = distance(atom, molecule.atoms[j]) * options.bohr_in_angstrom;
      require(apart >= kClosestAngstrom,
              "mp2: {}:{}: atom {} ({}) is {:.4f} angstrom from atom {} ({}) of line {}; expected at least {} angstrom "
              "between nuclei",
              source, number, i + 1, label(atom), apart, j + 1, label(molecule.atoms[j]), j + 3, kClosestAngstrom);
    }
    molecule.atoms.push_back(atom);
  }
  for (std::size_t number = count + 3; number <= lines.size(); ++number) {
    require(words_of(lines[number - 1]).empty(),
            "mp2: {}:{}: '{}' comes after the last of {} atoms; expected the end of the file", source, number,
            shown(lines[number - 1]), count);
  }
  require(molecule.electrons() >= 1,
          "mp2: {}: charge {:+d} leaves {} electrons; expected at least one: give a smaller --charge", source,
          options.charge, molecule.electrons());
  molecule.name = std::filesystem::path(source).stem().string();
  return molecule;
}

std::string read_text(const std::string& path) {
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  require(exists, "mp2: cannot read '{}': {}", path, std::strerror(errno));
  require(!S_ISDIR(status.st_mode), "mp2: cannot read '{}': it is a directory", path);
  require(!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode),
          "mp2: cannot read '{}': it is a device, which may never end", path);
  std::ifstream file(path);
  require(file.good(), "mp2: cannot read '{}': {}", path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Molecule read_xyz(const std::string& path, const XyzOptions& options) {
  return parse_xyz(read_text(path), path, options);
}

std::string label(const Atom& atom) {
  std::string text(atom.ghost ? 1 : 0, '@');
  text += symbol(atom.number);
  return text;
}

std::int64_t Molecule::electrons() const {
  std::int64_t count = -static_cast<std::int64_t>(charge);
  for (const Atom& atom : atoms) count += atom.charge();
  return count;
}

double Molecule::nuclear_repulsion() const {
  double energy = 0;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) energy += atoms[i].charge() * atoms[j].charge() / distance(atoms[i], atoms[j]);
  }
  return energy;
}

int Molecule::core_orbitals() const {
  int count = 0;
  for (const Atom& atom : atoms) count += mp2::core_orbitals(atom.charge());
  return count;
}

std::string Molecule::formula() const {
  std::map<std::string, int> counts;
  for (const Atom& atom : atoms) {
    if (!atom.ghost) ++counts[std::string(symbol(atom.number))];
  }
  std::string text;
  const auto add = [&](const std::string& element) {
    const int n = counts[element];
    if (n > 0) text += element + (n > 1 ? std::to_string(n) : "");
    counts.erase(element);
  };
  if (counts.contains("C")) {
    add("C");
    add("H");
  }
  while (!counts.empty()) add(counts.begin()->first);
  if (charge != 0) text += fmt::format("({:+d})", charge);
  return text;
}

SpinCounts spin_counts(const Molecule& molecule, int multiplicity) {
  require(multiplicity >= 1, "mp2: multiplicity {}; it is the number of unpaired electrons and one, so at least 1",
          multiplicity);
  const std::int64_t electrons = molecule.electrons(), unpaired = std::int64_t{multiplicity} - 1;
  require(electrons <= std::numeric_limits<int>::max(),
          "mp2: {} with charge {:+d} has {} electrons; expected at most {}", molecule.name, molecule.charge, electrons,
          std::numeric_limits<int>::max());
  const bool odd = electrons % 2 != 0;
  require(odd == (unpaired % 2 != 0),
          "mp2: {} with charge {:+d} has {} electrons, an {} number, which does not go with multiplicity {}; give an "
          "{} --multiplicity, or change --charge",
          molecule.name, molecule.charge, electrons, odd ? "odd" : "even", multiplicity, odd ? "even" : "odd");
  require(unpaired <= electrons,
          "mp2: {} with charge {:+d} has {} electrons, too few for multiplicity {}; the highest is {}", molecule.name,
          molecule.charge, electrons, multiplicity, electrons + 1);
  return {static_cast<int>((electrons + unpaired) / 2), static_cast<int>((electrons - unpaired) / 2)};
}

}  // namespace trn::mp2
