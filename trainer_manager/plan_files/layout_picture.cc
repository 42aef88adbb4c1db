#include "footprint/trainer_manager/plan_files/layout_picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

std::string Bytes(int64_t bytes) {
  return absl::StrCat(AbbreviateBytes(static_cast<double>(bytes)), " (",
                      FormatCount(bytes), " B)");
}

// Returns a text such as "step 12, conv1: forward".
std::string BoundStep(const MemoryPlan& plan, const PictureLabels& labels) {
  return absl::StrCat("step ", FormatCount(plan.lower_bound.step),
                      labels.bound_step.empty() ? "" : ", ", labels.bound_step);
}

std::string Verdict(absl::Span<const TensorRequest> requests,
                    const MemoryPlan& plan, const PictureLabels& labels) {
  const LowerBound& bound = plan.lower_bound;
  std::string text = absl::StrCat(requests.size(), " tensors in ",
                                  Bytes(plan.height_bytes), ". ");
  if (bound.kind == LowerBound::Kind::kExhaustiveSearch) {
    absl::StrAppend(&text, "The search ruled out every plan below ",
                    Bytes(bound.bytes), "; most bytes are live");
  } else {
    absl::StrAppend(&text,
                    labels.bound_step.empty() ? "No plan needs less than "
                                              : "These steps need at least ",
                    Bytes(bound.bytes), ": the ", bound.tensors.size(),
                    " tensors in full colour are live together");
  }
  absl::StrAppend(&text, " at ", BoundStep(plan, labels), ".");
  if (plan.IsProvedMinimal()) return text + " So this plan is minimal.";
  return absl::StrCat(text,
                      absl::StrFormat(" This plan is %.4f times as high.",
                                      static_cast<double>(plan.height_bytes) /
                                          static_cast<double>(bound.bytes)));
}

// Returns the table of the certificate, its largest tensors first.
PageTable CertificateTable(absl::Span<const TensorRequest> requests,
                           const MemoryPlan& plan) {
  PageTable table;
  table.caption = absl::StrCat("Live at step ", plan.lower_bound.step);
  table.header = {"tensor", "bytes", "offset", "from step", "until before"};
  std::vector<size_t> tensors = plan.lower_bound.tensors;
  std::stable_sort(tensors.begin(), tensors.end(), [&](size_t a, size_t b) {
    return requests[a].size_bytes > requests[b].size_bytes;
  });
  for (const size_t i : tensors) {
    table.rows.push_back({TensorName(requests, i),
                          FormatCount(requests[i].size_bytes),
                          FormatCount(plan.offsets_bytes[i]),
                          FormatCount(requests[i].lower_step),
                          FormatCount(requests[i].upper_step)});
  }
  return table;
}

LayoutChart MakeChart(absl::Span<const TensorRequest> requests,
                      const MemoryPlan& plan, const PictureLabels& labels) {
  const std::vector<std::string>& kinds = labels.kinds;
  LayoutChart chart;
  chart.title = "Tensors by address and step";
  chart.description =
      "Each box is a tensor: steps to the right, bytes upwards. Below, the "
      "bytes that are live at each step. Dashed lines: the lower bound, and "
      "the "
      "step that needs it. Point at a box for its figures.";
  chart.spans = labels.spans;
  for (size_t i = 0; i < requests.size(); ++i) {
    LayoutChart::Box box;
    box.label = requests[i].id;
    box.begin_step = requests[i].lower_step;
    box.end_step = requests[i].upper_step;
    box.offset_bytes = plan.offsets_bytes[i];
    box.size_bytes = requests[i].size_bytes;
    if (!kinds.empty()) {
      const auto known =
          std::find(chart.series.begin(), chart.series.end(), kinds[i]);
      box.series = known - chart.series.begin();
      if (known == chart.series.end()) chart.series.push_back(kinds[i]);
    }
    chart.boxes.push_back(box);
  }
  for (const size_t i : plan.lower_bound.tensors) {
    chart.boxes[i].is_marked = true;
  }
  chart.marked_step = plan.lower_bound.step;
  chart.marked_bytes = plan.lower_bound.bytes;
  chart.marked_label =
      absl::StrCat("lower bound ",
                   AbbreviateBytes(static_cast<double>(plan.lower_bound.bytes)),
                   ", needed at ", BoundStep(plan, labels));
  return chart;
}

}  // namespace

std::string DrawPlan(absl::Span<const TensorRequest> requests,
                     const MemoryPlan& plan, absl::string_view title,
                     const PictureLabels& labels) {
  Page page(title, Verdict(requests, plan, labels));
  page.AddLayoutChart(MakeChart(requests, plan, labels));
  PageContent certificate;
  certificate.AddTable(CertificateTable(requests, plan));
  page.AddFold("The tensors that prove the bound", certificate);
  return page.Html();
}

}  // namespace footprint
