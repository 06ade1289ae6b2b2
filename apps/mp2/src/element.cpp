// Symbols of H to Ar.
#include <trn/mp2/element.hpp>

#include <array>
#include <cctype>

#include <trn/core/error.hpp>

namespace trn::mp2 {

namespace {

constexpr std::array<std::string_view, kLastElement> kSymbols{"H",  "He", "Li", "Be", "B",  "C", "N", "O",  "F",
                                                              "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar"};

bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i]))) return false;
  }
  return true;
}

}  // namespace

std::string_view symbol(int number) {
  require(number >= 1 && number <= kLastElement, "mp2: {} is not an atomic number from 1 to {}", number, kLastElement);
  return kSymbols[static_cast<std::size_t>(number - 1)];
}

int atomic_number(std::string_view text) {
  for (int z = 1; z <= kLastElement; ++z) {
    if (same(text, symbol(z))) return z;
  }
  return 0;
}

const std::string& known_elements() {
  static const std::string all = [] {
    std::string text;
    for (const std::string_view s : kSymbols) text += (text.empty() ? "" : ", ") + std::string(s);
    return text;
  }();
  return all;
}

int core_orbitals(int number) {
  if (number > 10) return 5;
  return number > 2 ? 1 : 0;
}

}  // namespace trn::mp2
