// The sections of the page that are numbers, bars and tables: headline, utilisation, bytes moved, opcodes.
#include <fmt/format.h>

#include <algorithm>

#include "format.hpp"
#include "html_parts.hpp"

namespace trn::neuron::report {

namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// A bar from 0 to 1; `colour` is a class of html_style.cpp.
std::string bar(double fraction, std::string_view colour) {
  return fmt::format("<span class=\"track\"><span class=\"fill {}\" style=\"width:{:.2f}%\"></span></span>", colour,
                     100 * std::clamp(fraction, 0.0, 1.0));
}

std::string tile_html(std::string_view label, std::string_view value, std::string_view note,
                      std::string_view extra = "") {
  return fmt::format(
      "<div class=\"tile\"><div class=\"label\">{}</div><div class=\"value\">{}</div>{}<div "
      "class=\"sub\">{}</div></div>\n",
      label, value, extra, note);
}

std::string memory_tile(std::string_view label, std::int64_t used, std::int64_t capacity) {
  constexpr double kKiB = 1024;
  const double fraction = ratio(static_cast<double>(used), static_cast<double>(capacity));
  return tile_html(label, fmt::format("{} KiB", number_text(static_cast<double>(used) / kKiB)),
                   fmt::format("{} of {} KiB per partition", percent_text(fraction),
                               number_text(static_cast<double>(capacity) / kKiB)),
                   bar(fraction, "accent"));
}

std::string lane_names(const RunReport& report, const std::vector<std::int32_t>& lanes) {
  std::string text;
  for (const std::int32_t lane : lanes) {
    text += (text.empty() ? "" : ", ") + html_escaped(report.lanes[static_cast<std::size_t>(lane)].name);
  }
  return text;
}

}  // namespace

std::string colour_class(std::size_t rank) {
  return rank < PageLimits::kColours ? fmt::format("c{}", rank) : std::string("c-other");
}

std::string headline_html(const RunReport& r, const tile::Machine& machine) {
  const double bytes = static_cast<double>(r.hbm_read_bytes) + static_cast<double>(r.hbm_write_bytes);
  const double moved = ratio(bytes, r.seconds);
  std::string html = "<section class=\"tiles\">\n";
  html += tile_html("Modelled time", time_text(r.seconds),
                    fmt::format("{} of it launch overhead", time_text(r.launch_seconds)));
  html += r.matmul_flops > 0
              ? tile_html("Matmul rate", flop_rate_text(ratio(r.matmul_flops, r.seconds)),
                          fmt::format("{} of the {} Tensor Engine peak", percent_text(r.tensor_roof_fraction()),
                                      flop_rate_text(r.tensor_peak_flops)),
                          bar(r.tensor_roof_fraction(), "accent"))
              : tile_html("Matmul rate", "none", "the run multiplied no matrices");
  html += tile_html("HBM traffic", bytes_text(bytes),
                    fmt::format("{} read, {} written", bytes_text(static_cast<double>(r.hbm_read_bytes)),
                                bytes_text(static_cast<double>(r.hbm_write_bytes))));
  html += tile_html(
      "Achieved bandwidth", byte_rate_text(moved),
      fmt::format("{} of what the DMA engines can move", percent_text(ratio(moved, machine.dma_bytes_per_s()))),
      bar(ratio(moved, machine.dma_bytes_per_s()), "accent"));
  html += memory_tile("SBUF used", r.sbuf_bytes_per_partition, machine.sbuf_bytes_per_partition);
  html += memory_tile("PSUM used", r.psum_bytes_per_partition, machine.psum_bytes_per_partition());
  html += tile_html("Throttled", time_text(r.throttled_seconds), "Tensor Engine busy below its full rate");
  html += tile_html(
      "Instructions", grouped(r.instructions),
      fmt::format("on {} lanes", std::ranges::count_if(r.lanes, [](const Lane& l) { return l.instructions > 0; })));
  return html + "</section>\n";
}

std::string utilisation_html(const RunReport& r) {
  std::string html =
      "<section class=\"card\"><h2>Utilisation</h2><p class=\"note\">Busy share of the modelled time, launch "
      "included.</p><table "
      "class=\"bars\"><thead><tr><th>lane</th><th></th><th></th><th>busy</th><th>instructions</th></tr></"
      "thead><tbody>\n";
  for (const Lane& lane : r.lanes) {
    const double share = ratio(lane.busy_s, r.seconds);
    html += fmt::format(
        "<tr{}><th>{}</th><td class=\"wide\">{}</td><td class=\"strong\">{}</td><td>{}</td><td>{}</td></tr>\n",
        lane.instructions == 0 ? " class=\"idle\"" : "", html_escaped(lane.name), bar(share, "accent"),
        percent_text(share), time_text(lane.busy_s), grouped(lane.instructions));
  }
  return html + "</tbody></table></section>\n";
}

std::string bytes_html(const RunReport& r, const tile::Machine& machine) {
  const auto read = static_cast<double>(r.hbm_read_bytes), written = static_cast<double>(r.hbm_write_bytes);
  const double total = read + written;
  std::string html = "<section class=\"card\"><h2>Bytes moved</h2>";
  if (total > 0) {
    html += fmt::format(
        "<p class=\"note\">HBM and back, {} in all.</p><div class=\"stack\" role=\"img\" aria-label=\"read and written "
        "share\">"
        "<span class=\"accent\" style=\"flex:{:.6g}\"></span><span class=\"accent2\" "
        "style=\"flex:{:.6g}\"></span></div>\n",
        bytes_text(total), read / total, written / total);
  } else {
    html += "<p class=\"note\">The run moved no bytes between HBM and the core.</p>\n";
  }
  html += "<table class=\"facts\"><tbody>\n";
  const auto row = [&](std::string_view label, const std::string& value, const std::string& note) {
    html += fmt::format("<tr><th>{}</th><td class=\"strong\">{}</td><td>{}</td></tr>\n", label, value, note);
  };
  row("<i class=\"key accent\"></i>read from HBM", bytes_text(read), percent_text(ratio(read, total)));
  row("<i class=\"key accent2\"></i>written to HBM", bytes_text(written), percent_text(ratio(written, total)));
  row("a transfer under way", time_text(r.dma_active_seconds),
      percent_text(ratio(r.dma_active_seconds, r.seconds)) + " of the run");
  const double active = ratio(total, r.dma_active_seconds);
  row("rate while under way", byte_rate_text(active),
      fmt::format("{} of the DMA roof, {} of HBM", percent_text(ratio(active, machine.dma_bytes_per_s())),
                  percent_text(ratio(active, machine.hbm_bytes_per_s_per_core))));
  row("arithmetic intensity", fmt::format("{} flop/B", number_text(ratio(r.matmul_flops, total))),
      flops_text(r.matmul_flops) + " of matmul");
  return html + "</tbody></table></section>\n";
}

std::string opcodes_html(const RunReport& r, const std::vector<OpcodeUse>& uses) {
  std::string html = "<section class=\"card\"><h2>Opcodes</h2>";
  if (uses.empty())
    return html + "<p class=\"note\">Opcodes are counted from the timeline; none was kept.</p></section>\n";
  html += fmt::format(
      "<p class=\"note\">Colours as in the timeline. {}</p><table "
      "class=\"opcodes\"><thead><tr><th>opcode</th><th>lane</th>"
      "<th>count</th><th>busy</th><th>mean</th><th></th></tr></thead><tbody>\n",
      html_escaped(cut_note(r)));
  const auto row = [&](const std::string& colour, const std::string& name, const std::string& lanes, std::int64_t count,
                       double busy) {
    html += fmt::format(
        "<tr><th><i class=\"key {0}\"></i>{1}</th><td>{2}</td><td>{3}</td><td class=\"strong\">{4}</td><td>{5}</td>"
        "<td class=\"wide\">{6}</td></tr>\n",
        colour, name, lanes, grouped(count), time_text(busy), time_text(ratio(busy, static_cast<double>(count))),
        bar(ratio(busy, uses[0].busy_s), colour));
  };
  const std::size_t shown = std::min(uses.size(), PageLimits::kOpcodes);
  for (std::size_t i = 0; i < shown; ++i) {
    row(colour_class(i), html_escaped(uses[i].name.substr(0, PageLimits::kOneTextBytes)), lane_names(r, uses[i].lanes),
        uses[i].count, uses[i].busy_s);
  }
  OpcodeUse other;
  for (std::size_t i = shown; i < uses.size(); ++i) {
    other.count += uses[i].count;
    other.busy_s += uses[i].busy_s;
  }
  if (other.count > 0) row("c-other", "other", "", other.count, other.busy_s);
  return html + "</tbody></table></section>\n";
}

}  // namespace trn::neuron::report
