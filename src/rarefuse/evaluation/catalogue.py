"""The result tables there are, by name. Light: imports none of them.

Adding a table is one function from an `Evaluation` to rows, and one line here.
"""

TABLES = {
    "cohort": ("rarefuse.provenance.cohort", "cohort_table"),
    "overlap": ("rarefuse.provenance.cohort", "overlap_table"),
    "recall": ("rarefuse.evaluation.recall", "recall_table"),
    "ties": ("rarefuse.evaluation.recall", "ties_table"),
    "monte_carlo": ("rarefuse.provenance.variants", "monte_carlo_table"),
    "query_cap": ("rarefuse.provenance.variants", "query_cap_table"),
    "null_models": ("rarefuse.provenance.variants", "null_models_table"),
    "unchanged": ("rarefuse.provenance.subsets", "unchanged_table"),
    "single_case": ("rarefuse.provenance.subsets", "single_case_table"),
    "retained_profile": ("rarefuse.provenance.subsets", "retained_profile_table"),
    "dose": ("rarefuse.provenance.subsets", "dose_table"),
    "matched_deletion": ("rarefuse.provenance.matched", "matched_deletion_table"),
    "cross_corpus": ("rarefuse.provenance.cross_corpus", "cross_corpus_table"),
    "llm": ("rarefuse.llm.table", "llm_table"),
    "split_sensitivity": ("rarefuse.provenance.variants", "split_sensitivity_table"),
    "stock_comparison": ("rarefuse.provenance.stock", "stock_table"),
    "llm_arms": ("rarefuse.naming.tables", "llm_arms_table"),
    "naming_rules": ("rarefuse.naming.tables", "naming_rules_table"),
    "reranker": ("rarefuse.rerank.table", "reranker_table"),
    "mapping_audit": ("rarefuse.naming.tables", "mapping_audit_table"),
    "fusion": ("rarefuse.fusion.tables", "fusion_table"),
    "rank_fusion": ("rarefuse.fusion.tables", "rank_fusion_table"),
    "coverage": ("rarefuse.fusion.coverage", "coverage_table"),
    "controls": ("rarefuse.fusion.tables", "controls_table"),
    "ablation": ("rarefuse.fusion.tables", "ablation_table"),
    "paired_seeds": ("rarefuse.fusion.tables", "paired_seeds_table"),
    "developers": ("rarefuse.fusion.tables", "developers_table"),
    "depth": ("rarefuse.fusion.tables", "depth_table"),
    "transfer": ("rarefuse.fusion.tables", "transfer_table"),
}
"""Table → module and function."""
