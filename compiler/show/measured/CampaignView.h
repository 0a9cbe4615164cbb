// What is shown of a campaign while it runs: each row as JSON, or a bar with the row in hand and notes of rows that failed.
#pragma once

#include "compiler/run/RunEvents.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/show/Out.h"
#include "runtime/report/Progress.h"

#include <memory>
#include <vector>

namespace tbem::driver {

class CampaignView final : public RunEvents {
public:
  /// All must outlive this. `outlook`: what is known of the designs is told before the first row takes its time.
  CampaignView(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows, bool outlook);
  void progress(std::size_t done, std::size_t total, std::string_view what) override { out.progress(done, total, what); }
  void rest() override;
  bool opensLibrary(const OwnLibrary& library) override { return out.opensLibrary(library); }
  void note(std::string_view text) override { out.note(text); }
  void campaign(const measure::Standing& standing, const CaseRow* current) override;
  void rowDone(const runtime::Case& key, const runtime::Measurement& value, const CaseRow& row) override;

private:
  show::Out& out;
  const std::vector<MeasurePlan>& plans;
  const std::vector<CaseRow>& rows;
  bool outlook;
  std::unique_ptr<report::Progress> bar;
};

/// `--dry-run`.
void printOutlook(show::Out& out, const CampaignOutlook& outlook, std::size_t designs, const StoreFile& file);
/// How many rows ran, were there, are left.
void noteCampaign(show::Out& out, const measure::CampaignResult& result, const StoreFile& file);

}  // namespace tbem::driver
