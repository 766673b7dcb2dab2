"""The page of ``poise ui``: Streamlit, behind a guard of our own."""
