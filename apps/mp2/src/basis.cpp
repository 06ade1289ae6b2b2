// Reading Gaussian94 text and placing a basis set on a molecule.
#include <trn/mp2/basis.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include <trn/core/error.hpp>
#include <trn/mp2/element.hpp>

namespace trn::mp2 {

namespace {

// Lines that mean something, split into words, with their numbers.
class Reader {
 public:
  Reader(const std::string& text, std::string source) : in_(text), source_(std::move(source)) {}

  [[nodiscard]] bool next(std::vector<std::string>& words) {
    for (std::string line; std::getline(in_, line);) {
      ++line_;
      std::istringstream in(line);
      words.clear();
      for (std::string word; in >> word;) words.push_back(word);
      if (!words.empty() && !words[0].starts_with('!')) return true;
    }
    return false;
  }
  template <class... Args> void expect(bool condition, fmt::format_string<Args...> text, Args&&... args) const {
    if (!condition)
      fail<InvalidArgument>("mp2: {}:{}: {}", source_, line_, fmt::format(text, std::forward<Args>(args)...));
  }
  [[nodiscard]] double number(std::string word) const {
    const std::string written = word;
    for (char& c : word) {
      if (c == 'D' || c == 'd') c = 'e';
    }
    double value = 0;
    const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
    expect(error == std::errc() && end == word.data() + word.size() && std::isfinite(value), "'{}' is not a number",
           shown(written));
    return value;
  }
  // Of a word, for a message of one line.
  [[nodiscard]] static std::string shown(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    }
    return text.size() <= 60 ? text : text.substr(0, 60) + "...";
  }

 private:
  std::istringstream in_;
  std::string source_;
  std::size_t line_ = 0;
};

constexpr std::string_view kMomenta = "SPDFGHI";
constexpr int kMostPrimitives = 100;  // the work of an integral grows with their fourth power
constexpr double kLeastExponent = 1e-10, kMostExponent = 1e15;

// Of a contraction of primitives g_i that have norm 1, over the norm it would have if they were orthogonal:
// sum_ij c_i c_j <g_i|g_j> / sum_i c_i^2, with <g_i|g_j> = (2 sqrt(a_i a_j) / (a_i + a_j))^(l + 3/2).
double square_norm(const Contraction& c) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < c.exponents.size(); ++i) {
    squares += c.coefficients[i] * c.coefficients[i];
    for (std::size_t j = 0; j < c.exponents.size(); ++j) {
      const double ratio =
          2 * std::sqrt(c.exponents[i]) * std::sqrt(c.exponents[j]) / (c.exponents[i] + c.exponents[j]);
      sum += c.coefficients[i] * c.coefficients[j] * std::pow(ratio, c.l + 1.5);
    }
  }
  return sum / squares;
}

// The shells after an element line, up to the line of asterisks.
std::vector<Contraction> read_element(Reader& in) {
  std::vector<Contraction> shells;
  std::vector<std::string> words;
  while (in.next(words)) {
    if (words[0].starts_with("****")) return shells;
    in.expect(words.size() >= 2 && words.size() <= 3,
              "expected a shell, 'S 3 1.0' (momentum, primitives, scale), or '****'");
    std::string letters = words[0];
    for (char& c : letters) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const bool both = letters == "SP" || letters == "L";
    in.expect(both || (letters.size() == 1 && kMomenta.find(letters[0]) != std::string_view::npos),
              "'{}' is not an angular momentum; expected S, P, SP, D, F, G, H or I", Reader::shown(words[0]));
    const double count = in.number(words[1]), scale = words.size() == 3 ? in.number(words[2]) : 1;
    in.expect(count >= 1 && count <= kMostPrimitives && count == std::floor(count),
              "'{}' is not a number of primitives; expected 1 to {}", Reader::shown(words[1]), kMostPrimitives);
    in.expect(scale > 0 && scale <= 1e3, "scale factor {}; expected a positive number, at most 1000", scale);
    std::vector<Contraction> fresh(both ? 2 : 1);
    for (std::size_t k = 0; k < fresh.size(); ++k)
      fresh[k].l = both ? static_cast<int>(k) : static_cast<int>(kMomenta.find(letters[0]));
    for (int i = 0; i < static_cast<int>(count); ++i) {
      in.expect(in.next(words) && words.size() == fresh.size() + 1,
                "expected primitive {} of {}: an exponent and {} coefficient{}", i + 1, count, fresh.size(),
                both ? "s" : "");
      const double exponent = in.number(words[0]) * scale * scale;
      in.expect(exponent >= kLeastExponent && exponent <= kMostExponent,
                "exponent {}; expected a positive number, {} to {}", Reader::shown(words[0]), kLeastExponent,
                kMostExponent);
      for (std::size_t k = 0; k < fresh.size(); ++k) {
        const double coefficient = in.number(words[k + 1]);
        if (coefficient == 0) continue;
        in.expect(std::abs(coefficient) >= 1e-30 && std::abs(coefficient) <= 1e30,
                  "coefficient {}; expected a number of size 1e-30 to 1e30", Reader::shown(words[k + 1]));
        fresh[k].exponents.push_back(exponent);
        fresh[k].coefficients.push_back(coefficient);
      }
    }
    for (Contraction& shell : fresh) {
      in.expect(!shell.exponents.empty(), "every coefficient of the shell is zero");
      in.expect(square_norm(shell) > 1e-12,
                "the primitives of the shell cancel each other; expected a function with a norm");
      shells.push_back(std::move(shell));
    }
  }
  in.expect(false, "the file ends inside an element; expected '****'");
  return {};
}

}  // namespace

BasisSet parse_gaussian94(const std::string& text, const std::string& source) {
  BasisSet set;
  set.name = std::filesystem::path(source).stem().string();
  Reader in(text, source);
  std::vector<std::string> words;
  while (in.next(words)) {
    if (words[0].starts_with("****")) continue;
    if (words.size() == 1 && (words[0] == "spherical" || words[0] == "cartesian")) {
      set.functions = words[0] == "spherical" ? Functions::Spherical : Functions::Cartesian;
      continue;
    }
    const std::string element = words[0].starts_with('-') ? words[0].substr(1) : words[0];
    bool known = words.size() == 2 && words[1] == "0";
    for (const char c : element) known = known && std::isalpha(static_cast<unsigned char>(c)) != 0;
    in.expect(known && element.size() <= 2, "expected an element, 'C 0', or '****'");
    std::vector<Contraction> shells = read_element(in);
    in.expect(!shells.empty(), "element {} has no shells", element);
    const int number = atomic_number(element);
    if (number == 0) continue;  // beyond argon: read, not kept
    in.expect(!set.elements.contains(number), "element {} comes twice", element);
    set.elements[number] = std::move(shells);
  }
  in.expect(!set.elements.empty(), "no basis functions for any of {}", known_elements());
  return set;
}

BasisSet find_basis(const std::string& name) {
  if (name.ends_with(".gbs") || name.find('/') != std::string::npos) return parse_gaussian94(read_text(name), name);
  return bundled_basis(name);
}

Basis::Basis(BasisSet set, const Molecule& molecule, Functions functions)
    : set_(std::move(set)), functions_(functions) {
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    const auto found = set_.elements.find(molecule.atoms[a].number);
    if (found == set_.elements.end()) {
      std::string known;
      for (const auto& [number, shells] : set_.elements)
        known += (known.empty() ? "" : ", ") + std::string(symbol(number));
      fail<InvalidArgument>("mp2: basis set {} has no functions for {} (it has {}); choose another set{}", set_.name,
                            symbol(molecule.atoms[a].number), known,
                            set_.name.ends_with("JKFIT") ? ", or --exact-jk" : "");
    }
    for (const Contraction& c : found->second) {
      const std::int64_t size = functions == Functions::Spherical ? 2 * c.l + 1 : (c.l + 1) * (c.l + 2) / 2;
      shells_.push_back({c.l, molecule.atoms[a].position, static_cast<std::int64_t>(a), size_, size, &c});
      size_ += size;
    }
  }
}

Basis::Basis(BasisSet set, const Molecule& molecule) : Basis(set, molecule, set.functions) {}

Basis Basis::by_momentum() const {
  Basis sorted;
  sorted.set_.name = set_.name;
  sorted.functions_ = functions_;
  sorted.size_ = size_;
  sorted.shells_ = shells_;
  std::ranges::stable_sort(sorted.shells_, {}, &Shell::l);
  std::int64_t first = 0;
  for (Shell& s : sorted.shells_) {
    s.first = first;
    first += s.size;
  }
  return sorted;
}

}  // namespace trn::mp2
