// What the mp2 tests share: molecules and Psi4's energies from test/data, with the bohr that Psi4 1.3.2 takes.
#pragma once

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>
#include <trn/mp2/mp2.hpp>

#include "test_paths.hpp"

namespace trn::mp2::test {

// The least memory that a call says it needs when it is given next to none.
template <class F> std::int64_t least_memory(F call, const std::string& before) {
  try {
    call();
  } catch (const InvalidArgument& e) {
    const std::string text = e.what();
    const auto found = text.find(before);
    EXPECT_NE(found, std::string::npos) << text;
    if (found != std::string::npos)
      return static_cast<std::int64_t>(std::stod(text.substr(found + before.size())) * (1 << 20));
  }
  ADD_FAILURE() << "next to no memory was enough";
  return 0;
}

inline constexpr double kPsi4Bohr = 0.52917721067;

inline std::string data_path(const std::string& file) {
  return std::string(TRN_SOURCE_DIR) + "/apps/mp2/test/data/" + file;
}

inline Molecule molecule(const std::string& name) {
  return read_xyz(data_path(name + ".xyz"), {.bohr_in_angstrom = kPsi4Bohr});
}

struct Reference {
  std::string molecule, basis;
  JkKind jk;
  bool frozen_core;
  double nuclear, scf, correlation, same_spin, opposite_spin;
  std::int64_t functions, occupied, frozen, fitting;
};

inline std::vector<Reference> references() {
  std::vector<Reference> all;
  const auto file = nlohmann::json::parse(std::ifstream(data_path("psi4_energies.json")));
  for (const auto& r : file.at("results")) {
    all.push_back({r["molecule"], r["basis"], r["scf_type"] == "pk" ? JkKind::Exact : JkKind::Fitted, r["freeze_core"],
                   r["E_nuc"], r["E_scf"], r["E_mp2_corr"], r["E_ss"], r["E_os"], r["nbf"], r["nocc"], r["nfc"],
                   r["naux_ri"]});
  }
  EXPECT_EQ(all.size(), 24u);
  return all;
}

inline std::string label(const Reference& r) {
  return r.molecule + " " + r.basis + (r.jk == JkKind::Exact ? " pk" : " df") + (r.frozen_core ? " frozen core" : "");
}

inline Mp2Options options_of(const Reference& r) {
  Mp2Options options;
  options.basis = r.basis;
  options.jk_kind = r.jk;
  options.frozen_core = r.frozen_core;
  return options;
}

template <class E = InvalidArgument, class F> void expect_message(F call, const std::string& part) {
  try {
    call();
    FAIL() << "not refused: " << part;
  } catch (const E& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

}  // namespace trn::mp2::test
