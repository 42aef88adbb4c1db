#include "footprint/gates/explaining/audit_report.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {

Report MakeAuditReport(const std::vector<AuditFinding>& findings) {
  ReportTable table;
  table.heading = "Findings";
  table.row_name = "finding";
  table.columns = {{"kind"}, {"location"}, {"message"}, {"command"}};
  table.text_rows = findings.size();
  table.is_list = true;
  std::map<AuditFinding::Kind, int> counts;
  for (const AuditFinding& finding : findings) {
    ++counts[finding.kind];
    table.rows.push_back(
        {{TextValue(FindingWord(finding.kind)), TextValue(finding.location),
          TextValue(finding.message), CommandValue(finding.command)}});
  }
  Report report;
  report.title = "Audit of the gates";
  report.summary = findings.empty() ? "nothing found" : "found";
  for (const auto& [kind, count] : counts) {
    absl::StrAppend(&report.summary, report.summary == "found" ? " " : ", ",
                    count, " ", FindingWord(kind));
  }
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace footprint
