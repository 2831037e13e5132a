"""Discover: search engines are asked, what they bring is cleaned, grouped by domain and kept as candidates."""
