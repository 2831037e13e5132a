"""The guided tour: real commands in a directory of its own, shown with their real output."""
