// Kinds of `perturb`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kName = text("name", "the perturbation's name");
constexpr JsonField kMethod = text("method", "the method, as written");

/// FLOPs of an example, which may be those of a mean.
constexpr JsonField flopsOfExample(std::string_view name, std::string_view means) {
  return number(name, means).in(JsonUnit::Flops);
}

constexpr JsonField kPerturbation[] = {
    kName,
    text("training", "the training whose network and weights it takes"),
    text("network", "the network, as written"),
    text("data", "the examples' dataset and split"),
    count("examples", "the first so many examples of the split"),
    text("norm", "how distances are measured").oneOf("linf l2"),
    number("radius", "how far a point may be from its example, in the input's own numbers"),
    number("low", "no number of a valid input is below it"),
    number("high", "no number of a valid input is above it"),
    truth("keep_label", "whether only points with the prediction of their example count"),
    count("batch", "examples that are moved together"),
    integer("seed", "of random numbers"),
    kBackend,
    text("methods", "its methods, as written").listed(),
    flopsOfExample("flops_least", "what an example takes on the path with the fewest"),
    flopsOfExample("flops_most", "what an example takes on the path with the most"),
};

constexpr JsonField kPerturbed[] = {
    kName,
    kMethod,
    text("word", "the method's word"),
    count("examples", "examples that it is done with"),
    count("stored", "of these, those whose points the store had"),
    flopsOfExample("flops_before", "of an example, in the mean"),
    flopsOfExample("flops", "of the point that was found for it, in the mean"),
    share("increase_mean", "I-FLOPs: what FLOPs grew by, of those before, in the mean over examples"),
    share("increase_most", "the largest of them"),
    share("headroom", "of what was left to the most FLOPs, in the mean over examples that had room; `null`: none had").orNull(),
    count("raised", "examples that cost more than before"),
    share("coverage", "of the sides of all gates, those that some point took"),
    share("accuracy_before", "of the examples, where they have labels").orNull(),
    share("accuracy", "of the points").orNull(),
    share("predictions_kept", "points with the prediction of their example, where the network predicts classes").orNull(),
    number("linf", "the largest change of a number, in the mean over examples"),
    number("l2", "the Euclidean length of the change, in the mean over examples"),
    number("psnr", "peak signal-to-noise ratio in dB, in the mean over examples that moved").orNull(),
    number("ssim", "structural similarity, in the mean over images that moved").orNull(),
    share("latency_increase_mean", "as `increase_mean`, of the latency, where it was measured").orNull(),
    share("latency_increase_most", "the largest of them").orNull(),
    number("correlation", "Pearson's, of FLOPs and latency").orNull(),
    count("energy_examples", "examples whose energy was measured"),
    number("energy_before", "of these, in the mean").in(JsonUnit::Joules).orNull(),
    number("energy", "of the point, in the mean").in(JsonUnit::Joules).orNull(),
    share("energy_increase_mean", "as `increase_mean`, of the energy").orNull(),
    share("energy_increase_most", "the largest of them").orNull(),
    number("energy_correlation", "Pearson's, of FLOPs and energy").orNull(),
    number("battery", "how many points a charge lasts for that lasts for 10 000 of the examples").in(JsonUnit::Count).orNull(),
    text("energy_reason", "why some have no energy, where it is wanted").orNull(),
    seconds("seconds_of_example", "of the search of one point; `null`: all were stored").orNull(),
    count("side_by_side", "so many batches were searched at once; 0: none was searched"),
    seconds("learning_seconds", "of the training of what the method learns"),
};

constexpr JsonField kPoint[] = {
    kName,
    kMethod,
    integer("example", "the example's number in its split, counted from 0"),
    integer("label", "its label, where it has one").orNull(),
    integer("predicted_before", "the class that the network predicts of it").orNull(),
    integer("predicted", "the class that it predicts of the point").orNull(),
    flopsOfExample("flops_before", "of the example"),
    flopsOfExample("flops", "of the point"),
    number("linf", "the largest change of a number"),
    number("l2", "the Euclidean length of the change"),
    number("psnr", "peak signal-to-noise ratio in dB; infinite where nothing changed"),
    number("ssim", "structural similarity, of images").orNull(),
    number("gates_before", "what the gates decided of the example, as `gates`").keyed("GATE"),
    number("gates",
           "of the point, by gate: 1 where its condition held, 0 where not, -1 where it was not reached; of a gate that "
           "decides about places, the share of the point's places where it held")
        .keyed("GATE"),
    seconds("latency_before", "of the example").only("with `metric latency`"),
    seconds("latency", "of the point").only("with `metric latency`"),
    number("energy_before", "of the example").in(JsonUnit::Joules).only("with `metric energy`, where it is counted"),
    number("energy", "of the point").in(JsonUnit::Joules).only("with `metric energy`, where it is counted"),
};

constexpr JsonField kCertificate[] = {
    kName,
    integer("example", "the example's number in its split, counted from 0"),
    flopsOfExample("flops_bound", "that no point of the ball costs more than"),
    flopsOfExample("flops_bound_least", "that no point of the ball costs less than"),
    flopsOfExample("flops_found", "the most that the example and its points cost; 0: no method looked at it"),
    integer("gates",
            "of all points of the ball, by gate: 1 where its condition holds, 0 where it does not, -1 where that is not known, "
            "-2 where no point comes to it; of a gate at places, of all of them (-1 as well where places differ)")
        .keyed("GATE"),
    count("open", "decisions about the example that are not known: at most 1, or of a gate at places as many as it has places")
        .keyed("GATE"),
};

constexpr JsonField kCertified[] = {
    kName,
    integer("examples", "how many were bounded"),
    integer("below_most", "of these, those of which no point takes the path that costs most"),
    flopsOfExample("flops_bound", "that no point costs more than, in the mean over examples"),
    flopsOfExample("flops_found", "the most that an example and its points cost, in the mean"),
    flopsOfExample("flops_most", "of the path that costs most"),
    text("unsupported", "operators without bounds that some gate depends on").listed(),
    count("stored", "of these, bounds that the store had"),
    seconds("seconds_of_example", "of one bound; `null`: the store had them all").orNull(),
};

constexpr JsonField kDetected[] = {
    kName,
    kMethod,
    text("layer", "the network's first layer, at whose activations detectors look"),
    count("numbers", "that it computes of an example"),
    count("pairs", "examples that the method moved, each with its point"),
    share("auc",
          "area under the curve of detectors that learned this method's points: the pairs of a point and an example of "
          "which the point scores higher; in the mean over folds")
        .orNull(),
    number("auc_deviation", "of the folds' areas, with n - 1").orNull(),
    share("auc_by_learned", "the area at this method's points, by the method whose points detectors learned")
        .orNull()
        .keyed("METHOD"),
    flopsOfExample("flops_of_score", "that a score adds"),
    seconds("seconds_of_score", "of one score").orNull(),
};

constexpr JsonField kSqueezed[] = {
    kName,
    text("squeezer", "what inputs go through, as written"),
    kMethod,
    flopsOfExample("flops_before", "of a squeezed example, in the mean"),
    flopsOfExample("flops", "of a squeezed point, in the mean"),
    share("increase_mean", "what FLOPs grew by, of those of the squeezed example, in the mean over examples"),
    share("accuracy_before", "of the squeezed examples, where they have labels").orNull(),
    share("accuracy", "of the squeezed points").orNull(),
};

constexpr JsonKind kKinds[] = {
    jsonKind("perturbation", "One object at the beginning of a perturbation (`tbemc perturb`; [perturb.md](perturb.md)).",
             kPerturbation),
    jsonKind("perturbed", "One object at the end of each of its methods.", kPerturbed),
    jsonKind("point", "One object per point that a method found (`tbemc perturb --points`).", kPoint),
    jsonKind("detected", "One object per method at the end of a perturbation with a clause `detect`.", kDetected),
    jsonKind("squeezed", "One object per squeezer and method at the end of a perturbation with a clause `squeeze`.", kSqueezed),
    jsonKind("certified", "One object at the end of a perturbation with a clause `certify`.", kCertified),
    jsonKind("certificate", "One object per example that was bounded (`tbemc perturb --points`).", kCertificate),
};

}  // namespace

std::span<const JsonKind> perturbKinds() { return kKinds; }

}  // namespace tbem::show
