"""Language models as arms: prompt, back ends, answers as they came, and the names in them."""
