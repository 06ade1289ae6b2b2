// The elements that the bundled basis sets cover, H to Ar: symbols and atomic numbers.
#pragma once

#include <string>
#include <string_view>

namespace trn::mp2 {

inline constexpr int kLastElement = 18;

[[nodiscard]] std::string_view symbol(int atomic_number);  // 1 to kLastElement
// Of a symbol in any case; 0 when it is not one of H to Ar.
[[nodiscard]] int atomic_number(std::string_view symbol);
// "H, He, ..., Ar": for messages.
[[nodiscard]] const std::string& known_elements();
// Orbitals below the valence shell: those of the noble gas before the element.
[[nodiscard]] int core_orbitals(int atomic_number);

}  // namespace trn::mp2
