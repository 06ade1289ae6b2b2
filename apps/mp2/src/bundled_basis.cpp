// The basis sets in data/, which the assembler puts into this object; each is read on first use.
#include <cctype>
#include <mutex>
#include <optional>

#include <trn/core/error.hpp>
#include <trn/mp2/basis.hpp>

#define TRN_MP2_SET(label, file)                                                                             \
  ".globl trn_mp2_" label "\n.hidden trn_mp2_" label "\ntrn_mp2_" label ": .incbin \"" TRN_MP2_DATA "/" file \
  "\"\n"                                                                                                     \
  ".byte 0\n"
asm(".pushsection .rodata\n"  //
    TRN_MP2_SET("sto_3g", "sto-3g.gbs") TRN_MP2_SET("6_31gs", "6-31gs.gbs") TRN_MP2_SET("cc_pvdz", "cc-pvdz.gbs")
        TRN_MP2_SET("cc_pvtz", "cc-pvtz.gbs") TRN_MP2_SET("aug_cc_pvdz", "aug-cc-pvdz.gbs")
            TRN_MP2_SET("cc_pvdz_ri", "cc-pvdz-ri.gbs") TRN_MP2_SET("cc_pvtz_ri", "cc-pvtz-ri.gbs")
                TRN_MP2_SET("aug_cc_pvdz_ri", "aug-cc-pvdz-ri.gbs") TRN_MP2_SET("cc_pvdz_jkfit", "cc-pvdz-jkfit.gbs")
                    TRN_MP2_SET("cc_pvtz_jkfit", "cc-pvtz-jkfit.gbs")
                        TRN_MP2_SET("aug_cc_pvdz_jkfit", "aug-cc-pvdz-jkfit.gbs") ".popsection\n");
#undef TRN_MP2_SET

extern "C" {
extern const char trn_mp2_sto_3g[], trn_mp2_6_31gs[], trn_mp2_cc_pvdz[], trn_mp2_cc_pvtz[], trn_mp2_aug_cc_pvdz[],
    trn_mp2_cc_pvdz_ri[], trn_mp2_cc_pvtz_ri[], trn_mp2_aug_cc_pvdz_ri[], trn_mp2_cc_pvdz_jkfit[],
    trn_mp2_cc_pvtz_jkfit[], trn_mp2_aug_cc_pvdz_jkfit[];
}

namespace trn::mp2 {

namespace {

struct Bundled {
  const char* name;
  const char* text;
  const char* ri;  // partners of an orbital set
  const char* jk;
};

// STO-3G has no fitting sets of its own; those of the double-zeta set are larger than it needs.
const Bundled kBundled[] = {
    {"STO-3G", trn_mp2_sto_3g, "cc-pVDZ-RI", "cc-pVDZ-JKFIT"},
    {"6-31G*", trn_mp2_6_31gs, "cc-pVDZ-RI", "cc-pVDZ-JKFIT"},
    {"cc-pVDZ", trn_mp2_cc_pvdz, "cc-pVDZ-RI", "cc-pVDZ-JKFIT"},
    {"cc-pVTZ", trn_mp2_cc_pvtz, "cc-pVTZ-RI", "cc-pVTZ-JKFIT"},
    {"aug-cc-pVDZ", trn_mp2_aug_cc_pvdz, "aug-cc-pVDZ-RI", "aug-cc-pVDZ-JKFIT"},
    {"cc-pVDZ-RI", trn_mp2_cc_pvdz_ri, "", ""},
    {"cc-pVTZ-RI", trn_mp2_cc_pvtz_ri, "", ""},
    {"aug-cc-pVDZ-RI", trn_mp2_aug_cc_pvdz_ri, "", ""},
    {"cc-pVDZ-JKFIT", trn_mp2_cc_pvdz_jkfit, "", ""},
    {"cc-pVTZ-JKFIT", trn_mp2_cc_pvtz_jkfit, "", ""},
    {"aug-cc-pVDZ-JKFIT", trn_mp2_aug_cc_pvdz_jkfit, "", ""},
};
constexpr std::size_t kCount = std::size(kBundled);

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.ends_with("(d)")) text.replace(text.size() - 3, 3, "*");
  return text;
}

}  // namespace

const std::vector<std::string>& bundled_basis_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Bundled& b : kBundled) all.emplace_back(b.name);
    return all;
  }();
  return names;
}

const BasisSet& bundled_basis(std::string_view name) {
  static std::mutex mutex;
  static std::array<std::optional<BasisSet>, kCount> read;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (plain(name) != plain(kBundled[i].name)) continue;
    if (!read[i]) {
      read[i] = parse_gaussian94(kBundled[i].text, kBundled[i].name);
      read[i]->name = kBundled[i].name;
    }
    return *read[i];
  }
  std::string known;
  for (const std::string& n : bundled_basis_names()) known += (known.empty() ? "" : ", ") + n;
  fail<InvalidArgument>("mp2: basis set '{}' is not known; choose one of {}, or give a Gaussian94 file (name.gbs)",
                        name, known);
}

FittingSets fitting_sets(const BasisSet& orbital) {
  for (const Bundled& b : kBundled) {
    if (orbital.name == b.name) return {b.ri, b.jk};
  }
  return {};
}

}  // namespace trn::mp2
