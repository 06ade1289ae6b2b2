// The table of cuSOLVER's dense functions.
#include "solver_symbols.hpp"

#include <sstream>

#include <trn/core/error.hpp>

namespace trn::tools {

const std::vector<SymbolRow>& solver_symbol_rows() {
  static const std::vector<SymbolRow> rows = {
      {"SDCZ:potrf+ X:potrf+", "`potrf`, `Cholesky`", probe::potrf},
      {"SDCZ:potrs X:potrs", "`potrs`, `Cholesky::solve`", probe::potrs},
      {"SDCZ:potri+", "`potri`, `Cholesky::inverse`", probe::potri},
      {"SDCZ:potrfBatched", "`potrf_batched`", probe::potrf_batched},
      {"SDCZ:potrsBatched", "`potrs_batched`", probe::potrs_batched},
      {"SDCZ:getrf+ X:getrf+", "`getrf`, `Lu`", probe::getrf},
      {"SDCZ:getrs X:getrs", "`getrs`, `Lu::solve`", probe::getrs},
      {"SDCZ:laswp", "`laswp`", probe::laswp},
      {"SDCZ:geqrf+ X:geqrf+", "`geqrf`, `Qr`", probe::geqrf},
      {"SD:orgqr+ CZ:ungqr+", "`orgqr`, `Qr::q`", probe::orgqr},
      {"SD:ormqr+ CZ:unmqr+", "`ormqr`, `Qr::apply`", probe::ormqr},
      {"X:larft+", "`larft`", probe::larft},
      {"SDCZ:sytrf+", "`sytrf`, `Ldl`", probe::sytrf},
      {"X:sytrs+", "`sytrs`, `Ldl::solve`", probe::sytrs},
      {"SDCZ:sytri+", "`sytri`, `Ldl::inverse`", probe::sytri},
      {"X:trtri+", "`trtri`", probe::trtri},
      {"SDCZ:lauum+", "`lauum`", probe::lauum},
      {"ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY,DD,DS,DH,DB,DX,SS,SH,SB,SX:gesv+ -:IRSXgesv+", "`solve` with `target_error`",
       probe::solve},
      {"ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY,DD,DS,DH,DB,DX,SS,SH,SB,SX:gels+ -:IRSXgels+", "`lstsq`", probe::lstsq},
      {"-:IRSParamsCreate -:IRSParamsDestroy -:IRSParamsSetRefinementSolver -:IRSParamsSetSolverMainPrecision "
       "-:IRSParamsSetSolverLowestPrecision -:IRSParamsSetSolverPrecisions -:IRSParamsSetTol -:IRSParamsSetTolInner "
       "-:IRSParamsSetMaxIters -:IRSParamsSetMaxItersInner -:IRSParamsGetMaxIters -:IRSParamsEnableFallback "
       "-:IRSParamsDisableFallback",
       "`SolveOptions`"},
      {"-:IRSInfosCreate -:IRSInfosDestroy -:IRSInfosGetNiters -:IRSInfosGetOuterNiters -:IRSInfosGetMaxIters "
       "-:IRSInfosRequestResidual -:IRSInfosGetResidualHistory",
       "`Report`"},
      {"SDCZ:gebrd+", "`gebrd`", probe::gebrd},
      {"SD:orgbr+ CZ:ungbr+", "`orgbr`", probe::orgbr},
      {"SD:sytrd+ CZ:hetrd+", "`sytrd`", probe::sytrd},
      {"SD:orgtr+ CZ:ungtr+", "`orgtr`", probe::orgtr},
      {"SD:ormtr+ CZ:unmtr+", "`ormtr`", probe::ormtr},
      {"SD:syevd+ CZ:heevd+ X:syevd+ SD:syevj+ CZ:heevj+", "`eigh`", probe::eigh},
      {"SD:syevdx+ CZ:heevdx+ X:syevdx+", "`eigh` with a `Range`", probe::eigh_range},
      {"SD:syevjBatched+ CZ:heevjBatched+ X:syevBatched+", "`eigh_batched`", probe::eigh_batched},
      {"SD:sygvd+ CZ:hegvd+ SD:sygvj+ CZ:hegvj+", "`eigh_generalized`", probe::eigh_generalized},
      {"SD:sygvdx+ CZ:hegvdx+", "`eigh_generalized`, whole spectra only", probe::eigh_generalized},
      {"SDCZ:gesvd+ X:gesvd+ SDCZ:gesvdj+ X:gesvdp+", "`svd`, `singular_values`", probe::svd},
      {"X:gesvdr+", "`rsvd`"},
      {"SDCZ:gesvdjBatched+ SDCZ:gesvdaStridedBatched+", "`svd_batched`", probe::svd_batched},
      {"X:geev+", "`eig`", probe::eig},
      {"-:CreateSyevjInfo -:DestroySyevjInfo X:syevjSetTolerance X:syevjSetMaxSweeps X:syevjSetSortEig "
       "X:syevjGetResidual X:syevjGetSweeps",
       "`EighOptions`, `EighReport`"},
      {"-:CreateGesvdjInfo -:DestroyGesvdjInfo X:gesvdjSetTolerance X:gesvdjSetMaxSweeps X:gesvdjSetSortEig "
       "X:gesvdjGetResidual X:gesvdjGetSweeps",
       "`SvdOptions`, `SvdReport`"},
      {"-:Create -:Destroy -:SetStream -:GetStream", "`Executor`, `Stream`"},
      {"-:CreateParams -:DestroyParams -:SetAdvOptions -:SetMathMode -:GetMathMode -:SetEmulationStrategy "
       "-:GetEmulationStrategy",
       "options of each call, `Precision`"},
      {"-:SetDeterministicMode -:GetDeterministicMode", "always: the same bits from run to run"},
      {"-:LoggerSetCallback -:LoggerSetFile -:LoggerOpenFile -:LoggerSetLevel -:LoggerSetMask -:LoggerForceDisable",
       "`Recorder`"},
  };
  return rows;
}

std::vector<std::string> expand_symbols(const std::string& symbols) {
  std::vector<std::string> names;
  std::istringstream groups(symbols);
  for (std::string group; groups >> group;) {
    const std::size_t colon = group.find(':');
    ensure(colon != std::string::npos, "coverage: group '{}' has no colon", group);
    std::string letters = group.substr(0, colon), name = group.substr(colon + 1);
    const bool buffer = name.back() == '+';
    if (buffer) name.pop_back();
    std::vector<std::string> fronts;
    if (letters == "-") {
      fronts = {""};
    } else if (letters.find(',') != std::string::npos) {
      std::istringstream pairs(letters);
      for (std::string pair; std::getline(pairs, pair, ',');) fronts.push_back(pair);
    } else {
      for (const char letter : letters) fronts.emplace_back(1, letter);
    }
    for (const std::string& front : fronts) {
      names.push_back(front + name);
      if (buffer) names.push_back(front + name + "_bufferSize");
    }
  }
  return names;
}

}  // namespace trn::tools
