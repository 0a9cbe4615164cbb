// What is shown of a campaign while it runs: each row as JSON, or a bar with the row in hand and notes of rows that failed.
#pragma once

#include "compiler/run/RunCampaigns.h"
#include "compiler/show/measured/RunView.h"
#include "runtime/report/Progress.h"

#include <memory>
#include <vector>

namespace tbem::driver {

class CampaignView final : public RunView {
public:
  /// All must outlive this. `outlook`: what is known of the designs is told before the first row takes its time.
  CampaignView(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows, bool outlook);
  void rest() override;
  void campaign(const measure::Standing& standing, const CaseRow* current) override;
  void overExamples(const CaseRow& row, const std::string& what, std::int64_t done, std::int64_t total) override;
  void rowDone(const runtime::Case& key, const runtime::Measurement& value, const CaseRow& row) override;

private:
  const std::vector<MeasurePlan>& plans;
  const std::vector<CaseRow>& rows;
  bool outlook;
  measure::Standing standing;  ///< the last that was told
  std::unique_ptr<report::Progress> bar;
};

/// `--dry-run`.
void printOutlook(show::Out& out, const CampaignOutlook& outlook, std::size_t designs, const StoreFile& file);
/// How many rows ran, were there, are left.
void noteCampaign(show::Out& out, const measure::CampaignResult& result, const StoreFile& file);

}  // namespace tbem::driver
