"""Wording of the queries. ``{}`` stands for what is asked about.

The reference's generator has four templates for parents and three for siblings (HYEM_SPEC 10);
their wording here is ours. `TRAINING` is what the gate and the mention tagger learn from, the
reference templates among them; `HELD_OUT` shares no sentence with it and is only ever tested.
"""

ENTITY, HIERARCHY, SIBLING = FAMILIES = ("Q-E", "Q-H", "Q-M")

REFERENCE: dict[str, tuple[str, ...]] = {
    ENTITY: ("{}",),
    HIERARCHY: (
        "What is the parent category of {}?",
        "Which broader term covers {}?",
        "{} is a type of what in an is-a taxonomy?",
        "What are the superclasses of {}?",
    ),
    SIBLING: (
        "Which conditions are similar to {} at the same level of specificity?",
        "Which phenotypes are comparable to {}?",
        "What are the sibling concepts of {}?",
    ),
}

TRAINING: dict[str, tuple[str, ...]] = {
    ENTITY: (
        "{}",
        "{}",
        "{}",
        "{}",
        "the patient has {}",
        "patient presented with {}",
        "there is a history of {}",
        "ontology code for {}",
        "find the entry for {}",
        "please look up {}",
        "what does {} mean?",
        "definition of {}",
        "examination showed {} in the child",
        "he was diagnosed with {} last year",
    ),
    HIERARCHY: (
        *REFERENCE[HIERARCHY],
        "parent of {}",
        "ancestors of {}",
        "what kind of thing is {}?",
        "show me the more general terms for {}",
        "go one step up from {}",
        "to which group does {} belong?",
        "what does {} fall under?",
        "classify {} into a higher level class",
        "{} is a subtype of which concept?",
        "which class contains {}?",
        "give a less specific term than {}",
        "what is {} a special case of?",
        "generalise {}",
        "list everything above {} in the tree",
    ),
    SIBLING: (
        *REFERENCE[SIBLING],
        "siblings of {}",
        "terms next to {} in the hierarchy",
        "what else is like {}?",
        "show me other findings of the same kind as {}",
        "what shares a parent with {}?",
        "alternatives to {} on the same level",
        "list abnormalities related to {}",
        "which disorders resemble {}?",
        "what could be confused with {}?",
        "give me neighbours of {}",
        "other members of the group that {} is in",
        "besides {}, what else should be considered?",
        "similar terms to {}",
        "peers of {}",
    ),
}

HELD_OUT: dict[str, tuple[str, ...]] = {
    ENTITY: (
        "I am looking for the term {}",
        "The clinical note mentions {} since infancy",
        "Could you map {} to an identifier?",
        "Our proband shows {}",
        "How is {} called in this vocabulary?",
    ),
    HIERARCHY: (
        "Name the heading that sits directly over {}",
        "Where in the ontology tree is {} filed?",
        "{}: what is its immediate generalisation?",
        "Under what umbrella concept would you place {}?",
        "I need the hypernyms of {}",
    ),
    SIBLING: (
        "Tell me entries at the level of {} with the same direct heading",
        "Which co-hyponyms does {} have?",
        "What are close differentials for {}?",
        "I would like analogous features to {}",
        "Name some equally specific relatives of {}",
    ),
}
