"""Static pages that show every case: its ranks, its lists, and the findings behind them."""
