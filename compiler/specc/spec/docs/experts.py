"""Documentation of mixtures of experts: router, groups, shared expert; and of clamps."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "feed_forward.n_experts": Doc(
        "How many experts there are. Each is a glu of width d_ff.",
        source="Shazeer et al. 2017",
        mistakes=("All experts run on all tokens: the right numbers, n_experts / top_k the work.",),
        check="parameter count; the floating-point work of one forward, counted",
    ),
    "feed_forward.top_k": Doc(
        "How many experts each token passes.",
        source="Shazeer et al. 2017",
        mistakes=("The top-k taken over the tokens' axis, not the experts'.",),
        check="forward parity with inputs long enough for every expert to be chosen",
    ),
    "feed_forward.router_bias": Doc(
        "A trained bias on the router's logits. It moves weights too; selection_bias does not.",
        check="parameter count; strict state_dict",
    ),
    "feed_forward.score": Doc(
        (
            "How logits become weights. softmax: over all experts, then the best top_k are kept. "
            "topk_softmax: over the top_k only. sigmoid: each expert for itself."
        ),
        source="Jiang et al. 2024 (softmax); DeepSeek-AI 2024 (sigmoid)",
        mistakes=(
            (
                "softmax over the chosen logits where the model takes it over all: for logits "
                "1, 2, 0.5, 3, -1, 0, 2.5, 1.5 the best two weigh 0.622 and 0.378, not 0.403 and "
                "0.244. The two agree only where the weights are renormalised."
            ),
            "Probabilities rounded to bfloat16 before the top-k: ties choose other experts.",
            "The softmax over the tokens' axis.",
        ),
        check="forward parity; the mutant that swaps the two softmaxes; bfloat16 selection",
    ),
    "feed_forward.selection_bias": Doc(
        (
            "A number for each expert, kept in the state_dict and not trained by gradients, that "
            "is added to the scores to choose experts and left out of their weights."
        ),
        source="Wang et al. 2024 (auxiliary-loss-free load balancing)",
        mistakes=(
            "The biased scores taken as weights. A bias of 0, as at the start, hides it.",
            "Made a parameter: the optimiser moves it, and weight decay shrinks it.",
            "Not saved: training goes on, and the loaded model chooses other experts.",
        ),
        check="forward parity with a random bias; strict state_dict; parameter count",
    ),
    "feed_forward.renormalise": Doc(
        "Divide the chosen experts' weights by their sum, so that they add up to 1.",
        mistakes=(
            "Always done, whatever norm_topk_prob says.",
            "Done before the top-k, where the sum is 1 already.",
        ),
        check="forward parity; the mutant that flips it",
        elsewhere="Some configs have norm_topk_prob and code that ignores it: follow the code.",
    ),
    "feed_forward.renorm_eps": Doc(
        "What is added to the sum that renormalise divides by.",
        mistakes=("Left out: 0 / 0 where all sigmoids underflow.",),
        check="Config; forward parity",
    ),
    "feed_forward.scale": Doc(
        "A number that multiplies the chosen experts' weights, not the shared expert.",
        source="DeepSeek-AI 2024 (routed_scaling_factor, 2.5)",
        mistakes=("The shared expert scaled too.", "Scaled before renormalising, which undoes it."),
        check="forward parity; the mutant that drops it",
    ),
    "feed_forward.apply": Doc(
        "output: weight * expert(x). input: expert(weight * x), which is not the same.",
        source="Meta 2025 (input)",
        mistakes=("One taken for the other: the activation is not homogeneous.",),
        check="forward parity; the mutant that swaps the two",
    ),
    "feed_forward.groups": Doc(
        "Experts in neighbouring groups, of which each token keeps a few before it chooses.",
        source="DeepSeek-AI 2024, §2.1.2",
        mistakes=("No change where n_kept >= top_k and the score is max: a test shows nothing.",),
        check="forward parity with n_kept below top_k",
    ),
    "feed_forward.groups.n_groups": Doc(
        "How many groups there are. It divides n_experts.",
        mistakes=("Expert e put into group e % n_groups, where groups are neighbours.",),
        check="forward parity",
    ),
    "feed_forward.groups.n_kept": Doc(
        "How many groups each token chooses from.", check="forward parity"
    ),
    "feed_forward.groups.score": Doc(
        "How good a group is. max: its best expert. top2_sum: its two best, added.",
        mistakes=("One taken for the other: they agree for most tokens.",),
        check="forward parity; the mutant that swaps the two",
    ),
    "feed_forward.groups.fill": Doc(
        (
            "What experts of other groups count as: zero, where scores lie above it, or "
            "minus_infinity, which none can be below."
        ),
        mistakes=("zero under a negative selection bias: an expert of a lost group may win.",),
        check="forward parity with biases large enough",
    ),
    "feed_forward.shared": Doc(
        "One more expert, a glu, that every token passes beside the chosen ones.",
        source="Dai et al. 2024",
        mistakes=(
            "Its width taken from d_ff: several shared experts are one of several times the width.",
        ),
        check="parameter count; forward parity",
    ),
    "feed_forward.shared.d_ff": Doc(
        "Its width. Here `d_ff` names the width of one expert: 2 * d_ff.",
        check="parameter count",
    ),
    "feed_forward.shared.gate": Doc(
        "sigmoid: its output is multiplied by sigmoid(w x), one number for each token.",
        mistakes=("The gate left out, or over the chosen experts too.",),
        check="parameter count; the mutant that drops it",
    ),
    "feed_forward.clamp": Doc(
        (
            "Gate and up are kept within a limit, and the product is (up + up_offset) * gate * "
            "sigmoid(alpha * gate). It goes with silu, whose place it takes. {} has the usual "
            "numbers."
        ),
        source="OpenAI 2025 (gpt-oss, swiglu with limit)",
        mistakes=(
            "The gate clamped from below too: only up is.",
            "Left out: default weights never reach the limit.",
        ),
        check="forward parity with hidden features beyond the limit",
    ),
    "feed_forward.clamp.alpha": Doc(
        "The slope inside the sigmoid.", mistakes=("1, as in silu.",), check="forward parity"
    ),
    "feed_forward.clamp.limit": Doc(
        "gate <= limit; -limit <= up <= limit.",
        check="forward parity with hidden features beyond the limit",
    ),
    "feed_forward.clamp.up_offset": Doc(
        "What is added to up after the clamp.",
        mistakes=("Left out, or added before the clamp.",),
        check="forward parity",
    ),
}
